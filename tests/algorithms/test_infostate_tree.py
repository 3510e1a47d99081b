"""Trees of information states: their sizes, their refusals, and that no information is lost."""

from __future__ import annotations

from random import Random

import pytest

from duels.algorithms import infostate_tree
from duels.algorithms.infostate_tree import InfostateTree, TooManyStates
from duels.algorithms.solution import Unsolved
from duels.core.conformance import play_randomly
from duels.core.game import HIDDEN, AnyGame, Event, Outcome, Pick
from duels.games import load
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.rules import State as SiegeState
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.kuhn_poker import State as KuhnState
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import name

SIEGE = {"integrity": 3, "values": 2, "copies": 2, "hand": 1, "limit": 2}
# With the number of information states of each player, from the literature or by hand.
SIZES: dict[AnyGame, int] = {
    KuhnPoker(): 6,
    KuhnPoker(first=1): 6,
    LeducPoker(): 144,  # 288 for both players, where suits are not told apart
    LiarsDice(faces=3): 3 * 2**5,
    Goofspiel(cards=3, prizes="descending"): 1 + 9 + 36,
    Goofspiel(cards=2): 2 + 2 * 4,
}


GAMES = list(SIZES)


@pytest.mark.parametrize("game", SIZES, ids=name)
def test_sizes(game: AnyGame) -> None:
    assert [player.states for player in InfostateTree(game).players] == [SIZES[game]] * 2


@pytest.mark.parametrize("game", GAMES, ids=name)
def test_chances_of_all_ends_add_up(game: AnyGame) -> None:
    """Those of the ends that uniform play leads to."""
    tree = InfostateTree(game)
    plans = []
    for player in tree.players:
        plan = player.uniform()
        for state, parent in enumerate(player.parent):
            for sequence in range(player.begin[state], player.begin[state + 1]):
                plan[sequence] *= plan[parent]
        plans.append(plan)
    weights = {ends: plans[0][ends[0]] * plans[1][ends[1]] for ends in tree.pairs}
    assert sum(weights[ends] * pair.mass for ends, pair in tree.pairs.items()) == pytest.approx(1)


@pytest.mark.parametrize("game", [*GAMES, load("cipher-siege", **SIEGE)], ids=name)
def test_every_view_of_a_match_is_found_with_its_options(game: AnyGame) -> None:
    tree = InfostateTree(game, turn_limit=4)
    views = [tree.views(player) for player in (0, 1)]
    for seed in range(10):
        match = play_randomly(game, seed, Random(seed), turn_limit=4)
        for number in match.line:
            entry = match.events[number]
            for player, _ in entry.moves if isinstance(entry, Pick) else ():
                view = match.view_before(number, player)
                state = tree.find(view)
                assert state is not None
                found = views[player][state]
                assert (found.observation, found.history, found.options) == (
                    view.observation,
                    view.history,
                    view.options,
                )


@pytest.mark.slow
def test_a_budget_is_kept_and_named() -> None:
    assert InfostateTree(LeducPoker(), most=288).histories
    with pytest.raises(TooManyStates, match="leduc-poker has more than 287 information states"):
        InfostateTree(LeducPoker(), most=287)
    with pytest.raises(TooManyStates, match="more than 2,000 histories"):
        InfostateTree(LeducPoker(), histories=2000)
    with pytest.raises(TooManyStates, match="too many to list in the time given"):
        InfostateTree(LiarsDice(), seconds=0.01)


@pytest.mark.parametrize(
    "game",
    [
        load("cipher-siege"),
        load(
            "cipher-siege", integrity=1, values=1, copies=2, hand=1, limit=1
        ),  # most games end soon
        load("digit-duel", hidden=True),
        LiarsDice(faces=20),
    ],
    ids=name,
)
def test_a_game_that_is_far_too_large_is_refused_by_a_few_playouts(
    game: AnyGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InfostateTree, "_build", lambda *given: pytest.fail("it was built"))
    with pytest.raises(TooManyStates, match="more than 300,000 information states"):
        InfostateTree(game)


@pytest.mark.parametrize("tilt", [0.0, 0.2])
def test_playouts_estimate_sizes_from_below(tilt: float) -> None:
    """Of histories without bias; of information states at most without bias."""
    tree = InfostateTree(LeducPoker())
    randomness, count = Random(1), 800
    means = [
        sum(
            infostate_tree._playout(tree.game, 500, randomness, viewer, 10**9, tilt)
            for _ in range(count)
        )
        / count
        for viewer in (None, 0, 1, infostate_tree.BOTH)
    ]
    assert means[0] == pytest.approx(tree.histories, rel=0.1)
    assert means[3] == pytest.approx(tree.histories, rel=0.1), "players tell all deals apart"
    for player, mean in zip(tree.players, means[1:3], strict=True):
        assert 0.7 * player.states < mean < 1.1 * player.states


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infostate_tree, "STEP", 500)
    told: list[str] = []
    InfostateTree(LeducPoker(), lambda part, what: told.append(what))
    assert told
    assert all(what.endswith("information states found") for what in told)


class Forgetful(KuhnPoker):
    """Does not show players their own moves."""

    def redact(self, state: KuhnState, event: Event, viewer: int | None) -> Event:
        if isinstance(event, Pick):
            return Pick(tuple((player, HIDDEN) for player, _ in event.moves))
        return super().redact(state, event, viewer)


class Confusing(CipherSiege):
    """Does not show a player the cards that were drawn: what can be chosen depends on it."""

    def redact(self, state: SiegeState, event: Event, viewer: int | None) -> Event:
        if isinstance(event, Outcome):
            return event._replace(outcome=HIDDEN)
        return super().redact(state, event, viewer)


def test_a_game_in_which_players_cannot_know_what_they_must_is_refused() -> None:
    with pytest.raises(Unsolved, match="not always shown their own moves"):
        InfostateTree(Forgetful())
    with pytest.raises(Unsolved, match="do not always know their own options"):
        InfostateTree(Confusing(**SIEGE), turn_limit=2)
