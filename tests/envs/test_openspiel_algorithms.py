"""OpenSpiel's own algorithms run on the games, and agree with the solver about them."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from duels.algorithms.backward_induction import BackwardInduction
from duels.games import load

pytestmark = pytest.mark.slow

pyspiel: Any = pytest.importorskip(
    "pyspiel", reason="needs the extra: pip install 'duels[openspiel]'"
)
np: Any = importlib.import_module("numpy")
importlib.import_module("duels.envs.openspiel")


def algorithm(name: str) -> Any:
    return importlib.import_module(f"open_spiel.python.algorithms.{name}")


policy: Any = importlib.import_module("open_spiel.python.policy")


class Equilibrium(policy.Policy):  # type: ignore[misc]
    """What the solver's solution chooses, as an OpenSpiel policy of the turn-based game."""

    def __init__(self, game: Any, solution: BackwardInduction) -> None:
        super().__init__(game, [0, 1])
        self.solution = solution

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        node = state.simultaneous_game_state().snapshot.node
        mix = self.solution.assess_state(node.state, state.current_player()).mixed_strategy
        return {a: mix.get(node.encoding.moves[a], 0.0) for a in state.legal_actions()}


@pytest.mark.parametrize(
    "options",
    [
        {"numbers": 3, "points": 2},
        {"numbers": 4, "points": 2},
        pytest.param({"numbers": 4, "points": 3}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_the_number_clash_equilibrium_cannot_be_exploited(options: dict[str, int]) -> None:
    """Their best response gains nothing against it, and something against a fixed order."""
    exploitability = algorithm("exploitability").exploitability
    game = pyspiel.load_game_as_turn_based("python_duels_number_clash", options)
    solution = BackwardInduction(load("number-clash", **options))
    assert exploitability(game, Equilibrium(game, solution)) == pytest.approx(0, abs=1e-9)
    assert exploitability(game, policy.FirstActionPolicy(game)) > 0.1


@pytest.mark.parametrize(
    "life", ["1/1", "2/2", "3/2", "2/3", pytest.param("4/4", marks=pytest.mark.long)]
)
def test_their_alpha_beta_search_finds_our_values(life: str) -> None:
    game = pyspiel.load_game(f"python_duels_digit_duel(digits=4,life={life})")
    value, _ = algorithm("minimax").alpha_beta_search(game)
    ours = load("digit-duel", digits=4, life=life)
    assert value == 2 * BackwardInduction(ours).value(ours.start()) - 1


def test_cfr_learns_a_small_cipher_siege() -> None:
    exploitability = algorithm("exploitability").exploitability
    game = pyspiel.load_game(
        "python_duels_cipher_siege(integrity=3/3,values=2,copies=2,hand=1,limit=2,turn_limit=3)"
    )
    solver = algorithm("cfr").CFRSolver(game)
    for _ in range(10):
        solver.evaluate_and_update_policy()
    learned = exploitability(game, solver.average_policy())
    assert learned < exploitability(game, policy.UniformRandomPolicy(game)) / 3


def play(game: Any, bots: list[Any], seed: int) -> Any:
    randomness, state = np.random.RandomState(seed), game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, odds = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(randomness.choice(outcomes, p=odds)))
        else:
            state.apply_action(int(bots[state.current_player()].step(state)))
    return state


@pytest.mark.parametrize("text", ["firewall_breach", "digit_duel", "number_wars(lp=20/20)"])
def test_their_mcts_plays(text: str) -> None:
    mcts, game = algorithm("mcts"), pyspiel.load_game(f"python_duels_{text}")
    randomness = np.random.RandomState(1)
    evaluator = mcts.RandomRolloutEvaluator(1, randomness)
    bots = [mcts.MCTSBot(game, 2.0, 15, evaluator, random_state=randomness) for _ in (0, 1)]
    assert sum(play(game, bots, 1).returns()) == 0


def test_their_ismcts_plays_without_seeing_the_other_hand() -> None:
    game = pyspiel.load_game("python_duels_cipher_siege")
    randomness = np.random.RandomState(1)
    evaluator = algorithm("mcts").RandomRolloutEvaluator(1, randomness)
    bot = algorithm("ismcts").ISMCTSBot(game, evaluator, 2.0, 40, random_state=randomness)
    other = pyspiel.make_uniform_random_bot(1, 5)
    ends = [play(game, [bot, other], seed) for seed in range(4)]
    assert all(end.is_terminal() and sum(end.returns()) == 0 for end in ends)
