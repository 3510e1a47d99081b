"""Games with too many positions for Python are refused before they are enumerated."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from duels.algorithms.solution import Unsolved
from duels.algorithms.tree_size import clearly_more_states
from duels.core.game import Move
from duels.core.player import Player, View
from duels.games import load
from duels.measure import exploitability, head_to_head
from duels.players import make_opponent

FEW = 100_000  # queries; the positions to enumerate are millions


class Counted(Player):
    """A built-in player that may be asked about few positions."""

    def __init__(self, name: str) -> None:
        self.player, self.asked = make_opponent(name, ""), 0

    def choose(self, view: View) -> Move:
        raise AssertionError("only the mixed strategy is asked for")

    def mixed_strategy(self, view: View) -> Mapping[Move, float]:
        self.asked += 1
        assert self.asked <= FEW, "the positions are enumerated"
        strategy = self.player.mixed_strategy(view)
        assert strategy is not None
        return strategy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "options"),
    [
        ("digit-duel", {}),
        ("number-clash", {}),  # games are short: it takes more playouts
        ("number-wars", {"numbers": 20, "refresh": False}),
    ],
)
def test_a_large_game_is_refused_after_few_queries(
    slug: str, options: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duels.measure.dispatch.have_numba", lambda: False)
    game = load(slug, **options)
    refused = "has more than 1,000,000 transitions between .*; with numba there is no limit"
    told: list[str] = []
    with pytest.raises(Unsolved, match=refused):
        exploitability(game, Counted("random"), progress=lambda part, what: told.append(what))
    assert not [what for what in told if what.endswith("positions")], "they are enumerated"
    with pytest.raises(Unsolved, match=refused):
        head_to_head(game, Counted("random"), Counted("random"))


@pytest.mark.slow
def test_a_policy_that_reaches_few_positions_of_a_large_game_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("duels.measure.dispatch.have_numba", lambda: False)
    monkeypatch.setattr("duels.measure.dispatch.SMALL", 1_000)
    monkeypatch.setattr("duels.measure.dispatch.LARGEST", 10_000)
    game = load("digit-duel", digits=6)
    assert max(exploitability(game, "greedy").exploitability) > 0
    with pytest.raises(Unsolved, match="more than 10,000 transitions"):
        exploitability(game, "random")


@pytest.mark.parametrize("depths", [1, 10])
@pytest.mark.parametrize("uneven", [False, True])
def test_states_are_never_found_to_be_more_than_they_are(depths: int, uneven: bool) -> None:
    """Samples of as many states as the limit, which a plain estimate exceeds in half of them."""
    states = 2000
    each = states // depths
    for seed in range(50):
        random = Random(seed)
        power = 2 if uneven else 1
        playouts = [
            [(depth, int(each * random.random() ** power)) for depth in range(depths)]
            for _ in range(400)
        ]
        assert not clearly_more_states(playouts, states), seed


@pytest.mark.parametrize("depths", [1, 10])
def test_six_times_as_many_states_are_recognised(depths: int) -> None:
    random = Random(1)
    each = 12_000 // depths
    playouts = [[(d, random.randrange(each)) for d in range(depths)] for _ in range(1000)]
    assert clearly_more_states(playouts, 2000)


def test_one_state_at_many_depths_is_counted_once() -> None:
    random = Random(1)
    playouts = [[random.randrange(1500) for _ in range(10)] for _ in range(400)]
    assert not clearly_more_states(playouts, 2000)
