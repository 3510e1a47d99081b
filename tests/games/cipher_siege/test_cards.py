"""Cipher Siege: the rulings C7 to C9, its options and what its players are told."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

from duels.core import Chance, Decide, Match, OptionError, Outcome, Pick
from duels.core.chance import stream
from duels.core.presentation import Hand, Item, Pile, Shared
from duels.games.cipher_siege.rules import CipherSiege, State
from duels.players import make_opponent

GAME = CipherSiege()

SMALL: list[dict[str, object]] = [
    {},
    {"swap": "chosen"},
    {"values": 1, "copies": 2, "hand": 1, "limit": 1},
    {"values": 1, "copies": 2, "hand": 1, "limit": 5, "swap": "chosen"},
    {"values": 2, "copies": 2, "hand": 2, "limit": 2, "integrity": 30},
    {"values": 3, "copies": 2, "hand": 1, "limit": 2, "integrity": 40},
]


def test_c7_an_empty_deck_is_made_of_the_discards() -> None:
    """cipher-siege.txt:56: reshuffled before the draw, and gone from the pile."""
    state = State((15, 15), ((2,), (1,)), (), (3, 3, 5), 0, "draw")
    assert GAME.turn(state) == Chance({"3": Fraction(2, 3), "5": Fraction(1, 3)}, by=0)
    after = GAME.play(state, "3")
    assert after == State((15, 15), ((2, 3), (1,)), (3, 5), (), 0, "act")


def test_c7_the_deck_is_drawn_from_while_it_lasts() -> None:
    state = State((15, 15), ((2,), (1,)), (4,), (3, 3, 5), 0, "draw")
    assert GAME.turn(state) == Chance({"4": Fraction(1)}, by=0)
    assert GAME.play(state, "4") == State((15, 15), ((2, 4), (1,)), (), (3, 3, 5), 0, "act")


def test_c7_no_card_anywhere_means_no_draw() -> None:
    """cipher-siege.txt:125-126: play goes on with the cards in hand."""
    state = State((15, 15), ((2,), (1, 3)), (), (), 0, "draw")
    assert GAME.turn(state) == Decide({0: ("attack 2", "defend 2", "swap 2")})
    after = GAME.play(state, "attack 2")
    assert (after.ci, after.discard, after.mover) == ((15, 13), (2,), 1)
    assert GAME.status(GAME.observe(state, 0), Shared(0)) == [
        "",
        "=== Player 1 Turn ===",
        "CI: 15",
        "Hand: [2]",
        "Opponent's CI: 15",
        "Opponent's Hand: 2 cards",
    ]


def test_c7_a_player_without_cards_passes() -> None:
    state = State((15, 15), ((), (1, 3)), (), (), 0, "draw")
    assert GAME.turn(state) == Decide({0: ("pass",)})
    assert GAME.play(state, "pass") == state._replace(mover=1)


@pytest.mark.parametrize("options", SMALL, ids=str)
def test_c7_the_players_are_never_both_out_of_cards(options: dict[str, object]) -> None:
    """cipher-siege.txt:228-229 provides for a position where neither player can act. It never
    comes up, because no card ever leaves the game: hands, deck and discard pile always hold the
    whole pack between them, so with both hands empty there is a card to draw. The smallest packs
    come closest."""
    game = CipherSiege(**options)
    pack = Counter(game.start().deck)
    for seed in range(40):
        match = Match(game, seed, turn_limit=60)
        while match.result is None:
            (player,) = match.deciders
            seat = make_opponent("random", stream(seed, player))
            match.submit(player, seat.choose(match.view(player)))
        states = [match.state_before(number) for number in range(len(match.events))]
        for state in [*states, match.state]:
            assert Counter((*state.hands[0], *state.hands[1], *state.deck, *state.discard)) == pack
            if state.hands == ((), ()):
                assert state.deck or state.discard
                assert min(state.ci) <= 0 or isinstance(game.turn(state), Chance)


def test_c8_an_attack_hurts_only_the_opponent() -> None:
    """cipher-siege.txt:224-225 cannot come up: nothing a player does lowers the own CI."""
    state = State((1, 1), ((1, 2, 3, 4, 5), (1,)), (2,), (), 0, "act")
    turn = GAME.turn(state)
    assert isinstance(turn, Decide)
    for move in turn.options[0]:
        assert GAME.play(state, move).ci[0] >= 1


@pytest.mark.parametrize("first", [0, 1])
def test_c9_the_player_who_starts_draws_first(first: int) -> None:
    """cipher-siege.txt:53-55: four cards in the first hand to act, three in the other."""
    match = Match(CipherSiege(first=first), seed=9)
    assert match.deciders == (first,)
    assert len(match.state.hands[first]) == 4
    assert len(match.state.hands[1 - first]) == 3
    assert [type(entry) for entry in match.events] == [Outcome] * 7


def test_draws_are_told_to_the_drawer_only() -> None:
    """cipher-siege.txt:180-184 for the mover; the others read how many cards there are."""
    before = State((15, 15), ((2, 3, 5), (1, 4, 4)), (3, 3, 4), (), 0, "draw")
    after = GAME.play(before, "3")

    def told(viewer: int | None) -> list[str]:
        event = GAME.redact(before, Outcome("3", 0), viewer)
        return GAME.tell(GAME.observe(before, viewer), event, GAME.observe(after, viewer), viewer)

    head = ["", "=== Player 1 Turn ===", "CI: 15"]
    assert told(Shared(0)) == [*head, "Hand: [2, 3, 5]", "Draws card: 3", "New Hand: [2, 3, 5, 3]"]
    for viewer in (1, None):
        assert told(viewer) == [*head, "Hand: 3 cards", "Draws a card", "New Hand: 4 cards"]


def test_a_swap_is_told_to_each_in_their_own_words() -> None:
    for swap in ("random", "chosen"):
        game = CipherSiege(swap=swap)
        before = State((15, 15), ((2, 3), (1, 4, 4)), (5,), (), 0, "act")
        offered = game.play(before, "swap 3")
        after = game.play(offered, "4")
        offer = Pick(((0, "swap 3"),))
        taken = Outcome("4", 0) if swap == "random" else Pick(((1, "4"),))
        told = {
            viewer: [
                line
                for state, event, later in ((before, offer, offered), (offered, taken, after))
                for line in game.tell(
                    game.observe(state, viewer),
                    game.redact(state, event, viewer),
                    game.observe(later, viewer),
                    viewer,
                )
            ]
            for viewer in (0, 1, None)
        }
        assert told[0] == ["You give card: 3", "You receive card: 4", "End of turn."]
        assert told[1] == [
            "Chooses action: Swap",
            "You give card: 4",
            "You receive card: 3",
            "End of turn.",
        ]
        assert told[None] == ["Chooses action: Swap", "End of turn."]


def test_c6_the_table_hides_the_other_hand() -> None:
    state = State((9, 4), ((2, 3), (1, 4, 4)), (5, 5, 5), (1, 2), 1, "act")
    parts = GAME.table(GAME.observe(state, 0), 0)
    assert [part for part in parts if isinstance(part, Hand)] == [
        Hand("Hand", (Item("2", "2"), Item("3", "3")), owner=0),
        Hand("Hand", (), hidden=3, owner=1),
    ]
    assert Pile("Deck", 3) in parts
    assert Pile("Discards", 2, (Item("1"), Item("2"))) in parts


def test_options() -> None:
    game = CipherSiege(
        integrity="14/15", values=3, copies="2", hand=2, limit=4, swap="Chosen", first="2"
    )
    assert game.start() == State((14, 15), ((), ()), (1, 1, 2, 2, 3, 3), (), 1, "deal")
    assert game.settings() == {
        "integrity": "14/15",
        "values": "3",
        "copies": "2",
        "hand": "2",
        "limit": "4",
        "swap": "chosen",
        "first": "2",
    }
    # With a handicap the cap is each player's own start.
    state = State((13, 13), ((3,), (3,)), (1,), (), 0, "act")
    assert game.play(state, "defend 3").ci == (14, 13)
    assert game.play(state._replace(mover=1), "defend 3").ci == (13, 15)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("integrity", 0),
        ("integrity", "15/x"),
        ("values", 0),
        ("values", 10),
        ("copies", 1),  # ruling C1: 2 or more
        ("hand", 0),
        ("limit", "5/6"),
        ("swap", "open"),
        ("swap", None),
    ],
)
def test_bad_options(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=rf"^{option} takes .*; got "):
        CipherSiege(**{option: value})


def test_options_that_do_not_go_together() -> None:
    with pytest.raises(OptionError, match="hand=6 is more than limit=5 allows"):
        CipherSiege(hand=6)
    with pytest.raises(OptionError, match=r"hand=3 needs 6 cards; there are 4"):
        CipherSiege(values=2, copies=2)
