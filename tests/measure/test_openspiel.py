"""OpenSpiel's own best response scores what ours does, on small variants of all five games."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import pytest

from duels.core.player import Player, View
from duels.games import load
from duels.measure import exploitability

pytestmark = pytest.mark.slow

pyspiel: Any = pytest.importorskip(
    "pyspiel", reason="needs the extra: pip install 'duels[openspiel]'"
)
importlib.import_module("duels.envs.openspiel")
policy: Any = importlib.import_module("open_spiel.python.policy")
best_response: Any = importlib.import_module("open_spiel.python.algorithms.best_response")

# Each with a turn limit that no best response comes to, as theirs follows every game to its end.
VARIANTS: list[tuple[str, dict[str, object], int]] = [
    ("firewall-breach", {"strength": "2/3", "hit": 1}, 6),
    ("number-clash", {"numbers": 4, "points": 2}, 10),
    ("digit-duel", {"digits": 3, "life": 2}, 10),
    ("digit-duel", {"digits": 3, "life": 2, "hidden": True}, 10),
    ("number-wars", {"numbers": 3, "lp": "4/5"}, 8),
]
HIDDEN: list[tuple[dict[str, object], int]] = [
    ({"values": 2, "copies": 2, "integrity": 3, "hand": 1, "limit": 2}, 3),
    ({"values": 3, "copies": 2, "integrity": 2, "hand": 1, "limit": 1}, 3),
    ({"values": 2, "copies": 2, "integrity": 3, "hand": 1, "limit": 2, "swap": "chosen"}, 3),
]


def weights(actions: list[int]) -> dict[int, float]:
    """A mix of legal actions that favours none for a reason."""
    raw = [(7 * action + 3 * len(actions)) % 5 + 1 for action in actions]
    return {action: w / sum(raw) for action, w in zip(actions, raw, strict=True)}


class Ours(Player):
    def choose(self, view: View) -> str:
        raise AssertionError("only the mix is asked for")

    def mixed_strategy(self, view: View) -> Mapping[str, float]:
        moves = view.game.moves()
        actions = sorted(moves.index(move) for move in view.options)
        return {moves[action]: p for action, p in weights(actions).items()}


class Theirs(policy.Policy):  # type: ignore[misc]
    def __init__(self, game: Any) -> None:
        super().__init__(game, [0, 1])

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        return weights(state.legal_actions())


def typed(option: Any, value: object) -> Any:
    """Pairs are texts to OpenSpiel, even where one number stands for both."""
    return str(value) if isinstance(option.default, tuple) else value


def their_values(slug: str, options: dict[str, object], limit: int) -> list[float]:
    """What the policy scores in each seat against their best response, from 0 to 1."""
    known = load(slug, **options).options()
    parameters = {name: typed(known[name], value) for name, value in options.items()}
    sealed = slug == "number-clash" or "hidden" in options
    game = (pyspiel.load_game_as_turn_based if sealed else pyspiel.load_game)(
        f"python_duels_{slug.replace('-', '_')}", {**parameters, "turn_limit": limit}
    )
    found = []
    for seat in (0, 1):
        responder = best_response.BestResponsePolicy(game, 1 - seat, Theirs(game))
        found.append((1 - responder.value(game.new_initial_state())) / 2)
    return found


@pytest.mark.parametrize(("slug", "options", "limit"), VARIANTS, ids=str)
def test_their_best_response_scores_the_same(
    slug: str, options: dict[str, object], limit: int
) -> None:
    ours = exploitability(load(slug, **options), Ours()).value_vs_best_response
    assert list(ours) == pytest.approx(their_values(slug, options, limit), abs=1e-9)


@pytest.mark.parametrize(("options", "limit"), HIDDEN, ids=str)
def test_their_best_response_to_hidden_hands_scores_the_same(
    options: dict[str, object], limit: int
) -> None:
    game = load("cipher-siege", **options)
    ours = exploitability(game, Ours(), turn_limit=limit).value_vs_best_response
    assert list(ours) == pytest.approx(their_values("cipher-siege", options, limit), abs=1e-9)
