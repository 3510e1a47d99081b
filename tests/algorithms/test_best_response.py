"""An independent best response gains nothing against perfect play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from duels.algorithms import solve
from duels.algorithms.best_response import Enumeration, by_state
from duels.games import load

CASES: list[tuple[str, dict[str, object]]] = [
    ("firewall-breach", {}),
    ("number-clash", {"numbers": 5}),
    ("number-clash", {"numbers": 6, "points": 2}),
    ("digit-duel", {"digits": 5, "life": 4}),
    ("digit-duel", {"digits": 4, "life": 4, "hidden": True}),
    ("number-wars", {"numbers": 4, "lp": 15}),
]


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("slug", "options"), CASES)
def test_no_opponent_gains_against_perfect_play(
    slug: str, options: dict[str, object], player: int
) -> None:
    game = load(slug, **options)
    solution = solve(game)

    def perfect(state: Any) -> Mapping[str, float]:
        return solution.assess_state(state, 1 - player).mixed_strategy

    value = float(solution.start_value())
    response = Enumeration(game, 1 - player, by_state(perfect))
    gain = response.value - (value if player == 0 else 1 - value)
    assert abs(gain) < 1e-9


def test_a_planted_weakness_is_found() -> None:
    """Against a player that always bypasses, the best response wins more than perfect play does."""
    game = load("firewall-breach")
    response = Enumeration(game, 1, by_state(lambda state: {"bypass": 1.0}))
    assert response.value > float(solve(game).start_value()) + 0.05
