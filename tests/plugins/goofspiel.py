"""Goofspiel, as a package adds it: it opens with chance and seals its bids.

`BareGoofspiel` says only what a game must say; `Goofspiel` adds what programs want.

>>> game = Goofspiel(cards=3)
>>> state = game.play(game.play(game.start(), "2"), "3", "1")
>>> state.scores, state.hands
((2, 0), ((1, 2), (2, 3)))
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from duels.core.game import Chance, Decide, Event, Game, History, Outcome, Over
from duels.core.options import Choice, Number
from duels.core.presentation import (
    Hand,
    Item,
    Lines,
    Part,
    Pile,
    Points,
    Sealed,
    Step,
    heading,
    listed,
    player_name,
    question,
)

RULES = """\
Each player holds the bids 1 to {cards}, each to be used once; the prizes 1 to {cards} lie {lie}.

In a round the next prize is turned up. Both players bid for it in secret, then both bids are
revealed: the higher one takes the prize, equal bids discard it. Both bids are gone. When all prizes
are gone, more points win; equal points are a draw.
"""


class State(NamedTuple):
    prizes: tuple[int, ...]  # still in the deck
    hands: tuple[tuple[int, ...], tuple[int, ...]]
    prize: int = 0  # turned up; 0 while none is
    scores: tuple[int, int] = (0, 0)


class BareGoofspiel(Game[State, State]):
    slug = "bare-goofspiel"
    title = "Bare Goofspiel"
    summary = "Bid in secret for prizes that are turned up one by one."
    rules = RULES

    cards = Number(5, 1, 13, "how many prizes there are, and bids of each player")

    prizes = Choice("random", "descending", about="the order in which prizes are turned up")

    def words(self) -> dict[str, str]:
        return {"lie": "shuffled" if self.prizes == "random" else "in descending order"}

    def start(self) -> State:
        cards = tuple(range(1, self.cards + 1))
        return State(cards, (cards, cards))

    def turn(self, state: State) -> Decide | Chance | Over:
        if state.prize:
            return Decide({player: tuple(map(str, state.hands[player])) for player in (0, 1)})
        if state.prizes:
            next_up = state.prizes if self.prizes == "random" else state.prizes[-1:]
            return Chance({str(prize): Fraction(1, len(next_up)) for prize in next_up})
        one, two = state.scores
        return Over(None if one == two else int(two > one), "All prizes are gone.")

    def play(self, state: State, *picks: str) -> State:
        if not state.prize:
            prize = int(picks[0])
            return state._replace(prizes=_without(state.prizes, prize), prize=prize)
        one, two = map(int, picks)
        hands = _without(state.hands[0], one), _without(state.hands[1], two)
        won = state.prize * (one > two), state.prize * (two > one)
        return State(state.prizes, hands, 0, (state.scores[0] + won[0], state.scores[1] + won[1]))

    def observe(self, state: State, viewer: int | None) -> State:
        return state

    def gain(self, seen: State, player: int, move: str) -> float:
        theirs = seen.hands[1 - player]
        return seen.prize * sum((int(move) > bid) - (int(move) < bid) for bid in theirs)

    # Display

    def status(self, seen: State, viewer: int | None, history: History = ()) -> Lines:
        round_now = self.cards - len(seen.hands[0]) + 1
        return ["", heading(f"Round {round_now}: the prize is {seen.prize}")]

    def ask(self, seen: State, player: int, so_far: str) -> Step | None:
        if so_far:
            return None
        left = tuple(map(str, seen.hands[player]))
        used = (str(bid) for bid in range(1, self.cards + 1) if str(bid) not in left)
        refused = dict.fromkeys(used, "You have used that bid already.")
        listing = f"[{listed(left, ',')}]"
        return question("Your bid", left, player=player, listing=listing, refused=refused)

    def tell(self, before: State, event: Event, after: State, viewer: int | None) -> Lines:
        if isinstance(event, Outcome):
            return [f"The prize {event.outcome} is turned up."]
        lines = [f"{player_name(player)} bids {move}." for player, move in event.moves]
        gained = [after.scores[player] > before.scores[player] for player in (0, 1)]
        if not any(gained):
            return [*lines, f"The prize {before.prize} is discarded."]
        return [*lines, f"{player_name(gained.index(True))} takes the prize {before.prize}."]

    def table(self, seen: State, viewer: int | None, history: History = ()) -> list[Part]:
        prizes = tuple(Item(str(prize)) for prize in seen.prizes)
        parts: list[Part] = [Pile("Prizes left", len(prizes), prizes)]
        for player, hand in enumerate(seen.hands):
            bids = (str(bid) for bid in hand)
            cards = tuple(Item(bid, bid if player == viewer else "") for bid in bids)
            parts.append(Hand("Bids", cards, owner=player))
            parts.append(
                Points("Points", seen.scores[player], sum(range(1, self.cards + 1)), player)
            )
        return [*parts, *(Sealed("Bid", owner=player) for player in (0, 1))]


class Goofspiel(BareGoofspiel):
    slug = "goofspiel"
    title = "Goofspiel"

    def moves(self) -> tuple[str, ...]:
        return tuple(str(bid) for bid in range(1, self.cards + 1))

    def features(self) -> tuple[str, ...]:
        rows = [f"{row} {card}" for row in ("own", "other", "prize") for card in self.moves()]
        return (*rows, "prize", "own score", "other score")

    def encode(self, seen: State, player: int) -> tuple[int, ...]:
        rows = (seen.hands[player], seen.hands[1 - player], seen.prizes)
        held = [int(card in row) for row in rows for card in range(1, self.cards + 1)]
        return (*held, seen.prize, seen.scores[player], seen.scores[1 - player])


def _without(cards: tuple[int, ...], used: int) -> tuple[int, ...]:
    return tuple(card for card in cards if card != used)
