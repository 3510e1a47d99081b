"""OpenSpiel's own tests over every variant, and its integration tests' cases over small ones."""

from __future__ import annotations

import copy
import importlib
import pickle
import subprocess
import sys
import unittest
from pathlib import Path
from random import Random
from typing import Any

import pytest

from duels.core.errors import IllegalMove, OptionError
from duels.core.game import AnyGame
from duels.games import BUILT_IN, load
from tests.variants import VARIANTS, name

pytestmark = pytest.mark.slow

pyspiel: Any = pytest.importorskip(
    "pyspiel", reason="needs the extra: pip install 'duels[openspiel]'"
)
spiel: Any = importlib.import_module("duels.envs.openspiel")
positions: Any = importlib.import_module("duels.envs.snapshot")
TYPE = pyspiel.GameType

# Small enough to walk the whole tree; with its chance, playable and terminal states and its
# information states as first counted, so that a change of rules shows.
SMALL = {
    "python_duels_firewall_breach(strength=2/2,turn_limit=4)": ((81, 81, 487), 81),
    "turn_based_simultaneous_game(game=python_duels_number_clash(numbers=3,points=2))": (
        (0, 79, 36), 68,
    ),
    "python_duels_cipher_siege(integrity=3/3,values=2,copies=2,hand=1,limit=2,turn_limit=3)": (
        (1417, 255, 1409), 177,
    ),
    "python_duels_cipher_siege(integrity=3/3,values=2,copies=2,hand=1,limit=2,turn_limit=3,"
    "swap=chosen)": ((536, 203, 819), 109),
    "python_duels_digit_duel(digits=3,life=2/2)": ((0, 86, 33), 86),
    "turn_based_simultaneous_game(game=python_duels_digit_duel(digits=3,life=2/2,hidden=True))": (
        (0, 86, 33), 76,
    ),
    "python_duels_number_wars(lp=4/4,numbers=2,turn_limit=8)": ((0, 79, 80), 79),
}  # fmt: skip


def spiel_text(game: AnyGame) -> str:
    """How OpenSpiel is asked for a variant."""
    values = {
        key: "/".join(map(str, value)) if isinstance(value, tuple) else
        str(value) if isinstance(value, bool) else game.settings()[key]
        for key, value in ((key, game.__dict__[key]) for key in game.options())
    }  # fmt: skip
    given = ",".join(f"{key}={value}" for key, value in values.items())
    return f"python_duels_{game.slug.replace('-', '_')}({given})"


@pytest.mark.cases(10)
@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_openspiels_own_random_simulation(game: AnyGame) -> None:
    """It writes and reads the state at every step, so the longest variants are cut short."""
    made = pyspiel.load_game(spiel_text(game).replace(")", ",turn_limit=80)"))
    assert made.encoding.game == game
    pyspiel.random_sim_test(made, num_sims=2, serialize=True, verbose=False)


@pytest.mark.parametrize("text", SMALL)
def test_openspiels_integration_tests_on_whole_trees(text: str) -> None:
    api = importlib.import_module("open_spiel.integration_tests.api_test")
    states, known = SMALL[text]
    api.TOTAL_NUM_STATES[text] = states
    api.PERFECT_RECALL_NUM_STATES[text] = known
    run(api.EnforceAPIOnFullTreeBase, text)


@pytest.mark.parametrize("slug", BUILT_IN)
def test_openspiels_integration_tests_on_sampled_states(slug: str) -> None:
    api = importlib.import_module("open_spiel.integration_tests.api_test")
    run(api.EnforceAPIOnPartialTreeBase, spiel_text(load(slug)))


def run(base: Any, text: str) -> None:
    case = type("Case", (base,), {"game": pyspiel.load_game(text), "game_name": text})
    result = unittest.TestResult()
    unittest.TestLoader().loadTestsFromTestCase(case).run(result)
    assert result.testsRun >= 5
    assert [*result.errors, *result.failures] == []


def test_perfect_recall_is_really_looked_at() -> None:
    """A game whose information states forget is caught by OpenSpiel's own check."""
    api = importlib.import_module("open_spiel.integration_tests.api_test")
    game = pyspiel.load_game("python_duels_firewall_breach(strength=2/2,turn_limit=4)")
    forgetful = pytest.MonkeyPatch()
    forgetful.setattr(positions.Snapshot, "known", lambda self, viewer: str(self.node.state))
    with forgetful.context(), pytest.raises(AssertionError, match="2 history"):
        api._assert_is_perfect_recall(game)
    forgetful.undo()
    assert api._assert_is_perfect_recall(game)


@pytest.mark.parametrize(
    ("text", "sealed", "chance", "hidden"),
    [
        ("python_duels_firewall_breach", False, True, False),
        ("python_duels_number_clash", True, False, False),
        ("python_duels_cipher_siege", False, True, True),
        ("python_duels_digit_duel", False, False, False),
        ("python_duels_digit_duel(hidden=True)", True, False, False),
        ("python_duels_number_wars", False, False, False),
    ],
)
def test_types(text: str, sealed: bool, chance: bool, hidden: bool) -> None:
    found = pyspiel.load_game(text).get_type()
    assert (found.dynamics == TYPE.Dynamics.SIMULTANEOUS) is sealed
    assert (found.chance_mode == TYPE.ChanceMode.EXPLICIT_STOCHASTIC) is chance
    assert (found.information == TYPE.Information.IMPERFECT_INFORMATION) is hidden
    assert found.utility == TYPE.Utility.ZERO_SUM
    assert found.reward_model == TYPE.RewardModel.TERMINAL


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_states_follow_the_rules(game: AnyGame) -> None:
    """Legal actions, odds, states and returns against the pure rules, to the end of a game."""
    randomness = Random(name(game))
    state = pyspiel.load_game(spiel_text(game)).new_initial_state()
    pure, moves = game.start(), game.moves()
    for _ in range(300):
        turn: Any = game.turn(pure)
        assert str(state) == str(pure)
        if state.is_terminal():
            break
        if state.is_chance_node():
            odds = dict(state.chance_outcomes())
            assert list(odds.values()) == [float(odd) for odd in turn.odds.values()]
            action = randomness.choice(list(odds))
            assert state.action_to_string(action) == list(turn.odds)[action]
            pure = game.play(pure, list(turn.odds)[action])
            state.apply_action(action)
            continue
        picks = []
        for player in sorted(turn.options):
            legal = state.legal_actions(player)
            assert legal == sorted(legal)
            assert sorted(moves[a] for a in legal) == sorted(turn.options[player])
            picks.append(randomness.choice(legal))
        pure = game.play(pure, *(moves[pick] for pick in picks))
        if len(picks) == 2:
            state.apply_actions(picks)
        else:
            state.apply_action(picks[0])
    if state.is_terminal():
        winner = game.turn(pure).winner  # type: ignore[union-attr]
        assert state.returns() == [0.0, 0.0] if winner is None else state.returns()[winner] == 1.0
        assert sum(state.returns()) == 0.0


def played(text: str, steps: int) -> Any:
    randomness, state = Random(text), pyspiel.load_game(text).new_initial_state()
    for _ in range(steps):
        if not state.is_terminal():
            state.apply_action(randomness.choice(state.legal_actions()))
    return state


def test_clones_share_the_past_and_part_ways() -> None:
    state = played("python_duels_cipher_siege", 11)
    other = state.clone()
    assert other.snapshot is state.snapshot  # nothing was copied
    other.apply_action(other.legal_actions()[0])
    assert str(other) != str(state)
    assert copy.deepcopy(state).history() == state.history()
    assert str(pickle.loads(pickle.dumps(state))) == str(state)


def test_long_games_are_pickled_and_told() -> None:
    state = played("python_duels_firewall_breach(strength=999/999)", 900)
    _, again = pyspiel.deserialize_game_and_state(
        pyspiel.serialize_game_and_state(state.get_game(), state)
    )
    assert again.information_state_string(1) == state.information_state_string(1)


@pytest.mark.parametrize("swap", ["random", "chosen"])
def test_states_a_player_cannot_tell_apart_have_one_information_state(swap: str) -> None:
    different = 0
    for steps in range(7, 22, 2):
        state = played(f"python_duels_cipher_siege(swap={swap},turn_limit={100 + steps})", steps)
        for player in (0, 1):
            other = state.resample_from_infostate(player, Random(steps).random)
            different += str(other) != str(state)
            for ask in ("information_state_string", "information_state_tensor",
                        "observation_string", "observation_tensor"):  # fmt: skip
                assert getattr(other, ask)(player) == getattr(state, ask)(player)
            assert other.legal_actions(player) == state.legal_actions(player) or (
                state.is_chance_node()
            )
    assert different


def test_what_is_not_an_option_is_refused() -> None:
    state = played("python_duels_cipher_siege", 7)
    illegal = next(a for a in range(441) if a not in state.legal_actions())
    with pytest.raises(IllegalMove, match="not an option"):
        state.apply_action(illegal)
    wars = pyspiel.load_game("python_duels_number_wars(turn_limit=1)").new_initial_state()
    for action in (-2, 10):
        with pytest.raises(IllegalMove, match="from 0 to 9"):
            wars.apply_action(action)
    wars.apply_action(3)
    with pytest.raises(IllegalMove, match="the game is over"):
        wars.apply_action(4)
    clash = pyspiel.load_game("python_duels_number_clash").new_initial_state()
    with pytest.raises(IllegalMove, match="both players choose at once"):
        clash.apply_action(1)
    with pytest.raises(IllegalMove, match="from 0 to 9; got -1"):
        clash.apply_actions([-1, 2])
    die = pyspiel.load_game("python_duels_firewall_breach").new_initial_state()
    die.apply_action(0)
    for action in (-2, 6):
        with pytest.raises(IllegalMove, match="chance has the outcomes 0 to 5"):
            die.apply_action(action)
    with pytest.raises(OptionError, match="turn_limit is a whole number from 1 up; got 0"):
        pyspiel.load_game("python_duels_number_wars(turn_limit=0)")


@pytest.mark.parametrize("text", SMALL)
def test_short_ways_give_the_answers_of_openspiel(text: str) -> None:
    """What is answered in Python is what C++ would have answered by asking."""
    if text.startswith("turn_based"):
        text = text.partition("=")[2].removesuffix(")")
    game, randomness = pyspiel.load_game(text), Random(text)
    for _ in range(20):
        state = game.new_initial_state()
        while True:
            base: Any = super(type(state), state)
            assert state.is_chance_node() == base.is_chance_node()
            assert state.is_simultaneous_node() == base.is_simultaneous_node()
            if not state.is_simultaneous_node():
                assert state.legal_actions() == base.legal_actions()
            for player in (0, 1):
                assert state.legal_actions(player) == base.legal_actions(player)
            if state.is_terminal():
                break
            if state.is_simultaneous_node():
                picks = [randomness.choice(state.legal_actions(player)) for player in (0, 1)]
                state.apply_actions(picks)
            else:
                state.apply_action(randomness.choice(state.legal_actions()))


def test_what_is_handed_out_is_the_callers_own() -> None:
    state = pyspiel.load_game("python_duels_firewall_breach").new_initial_state()
    state.returns()[0] = 5.0
    assert state.returns() == [0.0, 0.0]
    state.legal_actions().clear()
    assert state.legal_actions() == [0, 1]
    state.apply_action(0)
    state.chance_outcomes().clear()
    assert len(state.chance_outcomes()) == 6


@pytest.mark.parametrize("slug", BUILT_IN)
def test_games_are_pickled_with_their_parameters(slug: str) -> None:
    game = pyspiel.load_game(f"python_duels_{slug.replace('-', '_')}(turn_limit=9)")
    again = pickle.loads(pickle.dumps(game))
    assert str(again) == str(game)
    assert again.max_game_length() == 9


def test_a_long_run_of_swaps_fits_into_the_tensor() -> None:
    """Among thousands of attacks a swap is rare, and has more chance events than any of them."""
    text = "python_duels_cipher_siege(values=9,copies=4,hand=6,limit=6,turn_limit=6)"
    game, randomness = pyspiel.load_game(text), Random(1)
    state = game.new_initial_state()
    while not state.is_terminal():
        actions = state.legal_actions()
        if not state.is_chance_node():
            names = {state.action_to_string(action): action for action in actions}
            swaps = [action for move, action in names.items() if move.startswith("swap")]
            pairs = [action for move, action in names.items() if len(move) == len("attack 1 1")]
            actions = swaps or pairs
        state.apply_action(randomness.choice(actions))
        if not state.is_terminal():
            assert any(state.information_state_tensor(0))


def test_what_is_imagined_is_as_likely_as_it_should_be() -> None:
    """Holding a 1 and a 2 of two each, the other's only card is as likely the one as the other."""
    state = played_out("python_duels_cipher_siege(values=2,copies=2,hand=1,limit=2)", [0, 0, 0])
    assert state.snapshot.node.state.hands == ((1, 2), (1,))
    randomness, ones = Random(3), 0
    for _ in range(400):
        other = state.resample_from_infostate(0, randomness.random)
        ones += other.snapshot.node.state.hands[1] == (1,)
    assert abs(ones / 400 - 1 / 2) < 0.1


def played_out(text: str, actions: list[int]) -> Any:
    state = pyspiel.load_game(text).new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def test_a_program_that_used_a_game_ends_well() -> None:
    """OpenSpiel's registry outlives the interpreter; what it holds must not crash the exit."""
    script = (
        "import pyspiel, duels.envs.openspiel\n"
        "state = pyspiel.load_game('python_duels_number_clash').new_initial_state()\n"
        "state.apply_actions([1, 2])\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("python_duels_number_clash", 10),
        ("python_duels_number_clash(numbers=4,points=2)", 4),
        ("python_duels_digit_duel", 18),
        ("python_duels_digit_duel(digits=3,hidden=True)", 3),
        ("python_duels_digit_duel(turn_limit=5)", 5),
        ("python_duels_number_wars", 500),
    ],
)
def test_tensors_are_no_wider_than_the_longest_game(name: str, most: int) -> None:
    game = pyspiel.load_game(name)
    assert game.max_game_length() == most
    sealed = game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
    width = len(game.new_initial_state().information_state_tensor(0))
    seen = len(game.new_initial_state().observation_tensor(0))
    assert width == seen + 2 * most * (2 if sealed else 1)


def test_the_public_observer_tells_what_all_may_see_and_the_private_one_the_rest() -> None:
    game = pyspiel.load_game("python_duels_cipher_siege")
    state = game.new_initial_state()
    for outcome in (3, 1, 4, 0, 2, 2, 3):
        state.apply_action(state.chance_outcomes()[outcome % len(state.chance_outcomes())][0])

    def tensor(public: bool, single: bool, player: int) -> list[float]:
        private = pyspiel.PrivateInfoType.SINGLE_PLAYER if single else pyspiel.PrivateInfoType.NONE
        kind = pyspiel.IIGObservationType(
            perfect_recall=False, public_info=public, private_info=private
        )
        observer = game.make_py_observer(kind)
        observer.set_from(state, player)
        return [float(number) for number in observer.tensor]

    features = game.encoding.features
    public = dict(zip(features, tensor(True, False, 0), strict=True))
    assert (public["own CI"], public["other hand"], public["deck"]) == (15, 3, 13)
    assert not any(public[f"own {card}s"] for card in range(1, 6))
    assert tensor(True, False, 1) == tensor(True, False, 0)
    for player in (0, 1):
        whole = dict(zip(features, tensor(True, True, player)[2:], strict=True))
        private = dict(zip(features, tensor(False, True, player)[2:], strict=True))
        hand = {name: whole[name] for name in features if name[4:6].rstrip("s").isdigit()}
        assert sum(hand.values()) == len(state.snapshot.node.state.hands[player])
        assert {name: number for name, number in private.items() if number} == {
            name: number for name, number in hand.items() if number
        }
