"""Solutions of the plug-in games beside OpenSpiel: their solvers' values, their exploitability."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest

pyspiel: Any = pytest.importorskip(
    "pyspiel", reason="needs the extra: pip install 'duels[openspiel]'"
)

from duels.algorithms.cfr import Strategies, sequence_form, solve_tree  # noqa: E402
from duels.algorithms.infostate_tree import InfostateTree  # noqa: E402
from duels.core.game import AnyGame, Chance, Event, Game, Outcome, Over, Pick  # noqa: E402
from duels.games import load  # noqa: E402
from tests.plugins.goofspiel import Goofspiel  # noqa: E402
from tests.plugins.kuhn_poker import CARDS, KuhnPoker  # noqa: E402
from tests.plugins.leduc_poker import LeducPoker  # noqa: E402
from tests.plugins.liars_dice import LiarsDice  # noqa: E402
from tests.variants import name  # noqa: E402

policy: Any = importlib.import_module("open_spiel.python.policy")
exploitability: Any = importlib.import_module("open_spiel.python.algorithms.exploitability")

LONG = pytest.mark.long
SLOW = pytest.mark.slow


class Twins(NamedTuple):
    """A plug-in game and the same game of OpenSpiel, whose actions are numbered as our moves."""

    ours: AnyGame
    theirs: str
    outcome: Callable[[int], str]  # of the number of a chance outcome of theirs
    iterations: int = 300  # of their solver

    def load(self) -> Any:
        game = pyspiel.load_game(self.theirs)
        simultaneous = game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        return pyspiel.convert_to_turn_based(game) if simultaneous else game

    def seen(self, actions: Sequence[int], player: int) -> tuple[Event, ...]:
        """What a player has seen of our game after so many actions of theirs.

        A chance event with one outcome is none of theirs, and neither is one half of a pair.
        """
        game, moves = self.ours, self.ours.moves()
        state, left, seen = game.start(), list(actions), list[Event]()
        while not isinstance(turn := game.turn(state), Over):
            event: Event
            if isinstance(turn, Chance):
                if len(turn.odds) > 1 and not left:
                    break
                only = next(iter(turn.odds))
                event = Outcome(only if len(turn.odds) == 1 else self.outcome(left.pop(0)), turn.by)
                picks = [event.outcome]
            else:
                if len(left) < len(turn.options):
                    break
                event = Pick(tuple((who, moves[left.pop(0)]) for who in sorted(turn.options)))
                picks = [move for _, move in event.moves]
            seen.append(game.redact(state, event, player))
            state = game.play(state, *picks)
        return tuple(seen)


def card(number: int) -> str:
    return CARDS[number]


def face(number: int) -> str:
    return str(number + 1)


def dice(faces: int, iterations: int = 300) -> Twins:
    theirs = f"liars_dice(numdice=1,dice_sides={faces})"
    return Twins(LiarsDice(faces=faces), theirs, face, iterations)


def goofspiel(cards: int, order: str, iterations: int = 300) -> Twins:
    theirs = f"goofspiel(num_cards={cards},points_order={order},returns_type=win_loss)"
    return Twins(Goofspiel(cards=cards, prizes=order), theirs, face, iterations)


KUHN = Twins(KuhnPoker(), "kuhn_poker", card)
LEDUC = Twins(LeducPoker(), "leduc_poker(suit_isomorphism=true)", card)
TWINS = [
    pytest.param(KUHN, id="kuhn"),
    pytest.param(LEDUC, id="leduc", marks=SLOW),
    pytest.param(dice(3), id="dice-3", marks=SLOW),
    pytest.param(dice(4), id="dice-4", marks=LONG),
    pytest.param(dice(5, 100), id="dice-5", marks=LONG),
    pytest.param(dice(6, 50), id="dice-6", marks=LONG),
    pytest.param(goofspiel(3, "random"), id="goofspiel-3-random"),
]
# Their information states of Goofspiel hold who took which prize and not all bids: strategies of
# theirs are strategies of ours, and not the other way round.
MORE_TWINS = [
    *TWINS,
    pytest.param(goofspiel(4, "descending"), id="goofspiel-4", marks=SLOW),
    pytest.param(goofspiel(4, "random", 50), id="goofspiel-4-random", marks=LONG),
    pytest.param(goofspiel(5, "descending", 50), id="goofspiel-5", marks=LONG),
]


class Exported(policy.Policy):  # type: ignore[misc]
    """Our strategies as a policy of OpenSpiel's."""

    def __init__(self, twins: Twins, game: Any, tree: InfostateTree, found: Strategies) -> None:
        super().__init__(game, [0, 1])
        self.twins, self.tree, self.found = twins, tree, found

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        player = state.current_player() if player_id is None else player_id
        own = self.tree.players[player]
        number = own.find(self.twins.seen(state.history(), player))
        assert number is not None
        moves = self.twins.ours.moves()
        chosen = self.found.choice[player][own.begin[number] : own.begin[number + 1]]
        assert [moves[a] for a in state.legal_actions()] == list(own.options[number])
        return dict(zip(state.legal_actions(), map(float, chosen), strict=True))


def states(state: Any) -> Iterator[Any]:
    """All states of a game of theirs in which a player chooses."""
    if state.is_terminal():
        return
    if not state.is_chance_node():
        yield state
    for action in state.legal_actions():
        yield from states(state.child(action))


def imported(twins: Twins, game: Any, tree: InfostateTree, theirs: Any) -> Strategies:
    """Their policy on our tree."""
    choice = [player.uniform() for player in tree.players]
    for state in states(game.new_initial_state()):
        player = state.current_player()
        own = tree.players[player]
        number = own.find(twins.seen(state.history(), player))
        assert number is not None
        chosen = theirs.action_probabilities(state)
        for sequence, action in enumerate(state.legal_actions(), own.begin[number]):
            choice[player][sequence] = chosen[action]
    return Strategies(sequence_form(tree, fast=False), (choice[0], choice[1]))


@pytest.mark.parametrize("twins", TWINS)
def test_their_exploitability_of_our_strategies_is_ours(twins: Twins) -> None:
    """Of strategies that are far from perfect, so that there is something to measure."""
    game, tree = twins.load(), InfostateTree(twins.ours)
    for iterations in (1, 30):
        found = solve_tree(tree, iterations=iterations, target=0.0)
        tabular = Exported(twins, game, tree, found).to_tabular()
        theirs = exploitability.nash_conv(game, tabular, return_only_nash_conv=False)
        assert theirs.nash_conv == pytest.approx(found.exploitability, abs=1e-9)
        assert iterations > 1 or found.exploitability > 1e-3


@pytest.mark.parametrize("twins", MORE_TWINS)
def test_our_exploitability_and_value_of_their_strategies_are_theirs(twins: Twins) -> None:
    """And the value of their solver's strategies is that of ours within both exploitabilities."""
    game, tree = twins.load(), InfostateTree(twins.ours)
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(twins.iterations):
        solver.evaluate_and_update_policy()
    theirs = solver.tabular_average_policy()
    same = imported(twins, game, tree, theirs)
    assert same.exploitability == pytest.approx(2 * pyspiel.exploitability(game, theirs), abs=1e-9)
    value = pyspiel.expected_returns(game.new_initial_state(), theirs, -1, False)[0]
    assert same.value == pytest.approx(value, abs=1e-9)
    ours = solve_tree(tree, target=1e-4)
    assert ours.exploitability <= 1e-4
    assert ours.value == pytest.approx(value, abs=ours.exploitability + same.exploitability)


class Ours(policy.Policy):  # type: ignore[misc]
    """Strategies as a policy of a game that `duels.envs.openspiel` made."""

    def __init__(self, game: Any, tree: InfostateTree, found: Strategies) -> None:
        super().__init__(game, [0, 1])
        self.tree, self.found = tree, found

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        player = state.current_player()
        if hasattr(state, "simultaneous_game_state"):
            state_with_history = state.simultaneous_game_state()
        else:
            state_with_history = state
        snapshot, own = state_with_history.snapshot, self.tree.players[player]
        number = own.find(step.redact(player) for step in snapshot.path())
        assert number is not None
        chosen = self.found.choice[player][own.begin[number] : own.begin[number + 1]]
        by_move = dict(zip(own.options[number], map(float, chosen), strict=True))
        moves = snapshot.node.encoding.moves
        return {action: by_move[moves[action]] for action in state.legal_actions()}


SIEGE = {"integrity": 3, "values": 2, "copies": 2, "hand": 1, "limit": 2}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rules", "limit"),
    [
        (KuhnPoker(first=1), 500),
        (LeducPoker(), 500),
        (LiarsDice(faces=3, first=1), 500),
        (Goofspiel(cards=3), 500),
        (Goofspiel(cards=4, prizes="descending"), 500),
        (load("digit-duel", digits=3, life="2/3", hidden=True), 500),
        (load("cipher-siege", **SIEGE), 3),
        pytest.param(load("cipher-siege", **SIEGE, swap="chosen"), 3, marks=LONG),
    ],
    ids=lambda given: name(given) if isinstance(given, Game) else "",
)
def test_their_exploitability_of_exported_games_is_ours(
    rules: AnyGame, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    openspiel: Any = importlib.import_module("duels.envs.openspiel")
    monkeypatch.setattr(openspiel, "load", lambda slug, **options: type(rules)(**options))
    made = type(type(rules).__name__, (openspiel.SpielGame,), {"slug": rules.slug})
    game = made({**rules.settings(), "turn_limit": limit})
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    tree = InfostateTree(rules, turn_limit=limit)
    for iterations in (1, 10):
        found = solve_tree(tree, iterations=iterations, target=0.0)
        theirs = exploitability.nash_conv(game, Ours(game, tree, found))
        assert theirs == pytest.approx(found.exploitability, abs=1e-9)
        assert iterations > 1 or found.exploitability > 1e-3
