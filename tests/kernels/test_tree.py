"""The kernel made of a game's tree: against the pure rules, and against the games' own kernels."""

from __future__ import annotations

from math import lcm
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.algorithms import solutions
from duels.core.game import AnyGame, Chance, Decide
from duels.core.player import View
from duels.envs import batch as batches
from duels.envs import opponents
from duels.envs.batch import Batch
from duels.envs.opponents import CachedOpponent, batch_opponents, chooser
from duels.envs.vector import Versus
from duels.games import load
from duels.kernels import NoKernel, kernel_of, np, tree
from duels.kernels.driver import BY_FORFEIT, BY_LIMIT, BY_RULES
from duels.kernels.opponent_loops import strategy_loop
from duels.kernels.tree import Tree, tree_of
from duels.players import make_opponent
from tests.kernels.test_kernels import Dice, Walk, reachable, step_everywhere
from tests.plugins.goofspiel import BareGoofspiel, Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import GreatLiarsDice, LiarsDice
from tests.variants import name

pytestmark = pytest.mark.slow

PLUGINS: list[AnyGame] = [
    KuhnPoker(),
    KuhnPoker(first=1),
    LeducPoker(),
    LiarsDice(faces=3),
    LiarsDice(faces=2, first=1),
    Goofspiel(cards=4),
    Goofspiel(cards=4, prizes="descending"),
]
# Variants of the games that have a kernel of their own.
OWN: list[AnyGame] = [
    load("firewall-breach"),
    load("firewall-breach", strength="5/4", hit=2, bypass=2, first=1),
    load("number-clash", numbers=4),
    load("number-clash", numbers=3, points=3),
    load("digit-duel", digits=4, life=4),
    load("digit-duel", digits=4, life="3/4", hidden=True, first=1),
    load("number-wars", numbers=3, lp=9),
    load("number-wars", numbers=3, lp="5/7", refresh=False, first=1),
]
# Its histories never end, since swaps can go on for ever.
SIEGE = load("cipher-siege", values=2, copies=2, integrity=3, hand=1, limit=2)


class TreeDice(Dice):
    """Chance as the tree draws it: a number below the common denominator of the odds."""

    def outcome(self, state: Any, chance: Chance) -> str:
        whole = lcm(*(odd.denominator for odd in chance.odds.values()))
        drawn = self.below(whole) if len(chance.odds) > 1 else 0
        for outcome, odd in chance.odds.items():
            drawn -= int(odd * whole)
            if drawn < 0:
                return outcome
        raise AssertionError("the odds do not add up to 1")


@pytest.fixture
def by_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches use the tree of every game."""
    for module in (batches, opponents):
        monkeypatch.setattr(module, "kernel_of", lambda game, progress=None: tree.KERNEL)


@pytest.mark.cases(4)
@pytest.mark.parametrize("game", PLUGINS, ids=name)
def test_random_steps_are_those_of_the_rules(game: AnyGame) -> None:
    assert kernel_of(game) is tree.KERNEL
    walk = Walk(game, size=100, seed=17, dice=TreeDice)
    walk.check()
    for _ in range(40):
        walk.step(walk.batch.random_actions())
        walk.check()
    assert walk.endings[BY_RULES] > 100


def test_the_turn_limit_ends_games() -> None:
    walk = Walk(LeducPoker(), size=50, seed=1, turn_limit=3, dice=TreeDice)
    for _ in range(20):
        walk.step(walk.batch.random_actions())
        walk.check()
    assert walk.endings[BY_LIMIT] > 50


@pytest.mark.cases(6)
@pytest.mark.parametrize("game", [*PLUGINS, *OWN], ids=name)
@pytest.mark.usefixtures("by_tree")
def test_every_state_and_every_move(game: AnyGame) -> None:
    """Each move of each reachable state, several times where chance follows."""
    step_everywhere(game, reachable(game), times=3, dice=TreeDice)


@pytest.mark.parametrize("game", OWN, ids=name)
def test_games_are_those_of_the_games_own_kernel(
    game: AnyGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Game by game from the same seed: states, masks, observations, rewards and ends."""
    own = Batch(game, 200, seed=3)
    assert kernel_of(game) is not tree.KERNEL
    played = []
    for _ in range(60):
        arrays = [own.player, own.mask.copy(), own.observation.copy()]
        actions = own.random_actions()
        played.append((arrays, actions, own.step(actions), own.ending, own.state(7)))
    monkeypatch.setattr(batches, "kernel_of", lambda game, progress=None: tree.KERNEL)
    other = Batch(game, 200, seed=3)
    for arrays, actions, step, ending, state in played:
        for mine, theirs in zip(arrays, [other.player, other.mask, other.observation], strict=True):
            assert np.array_equal(mine, theirs)
        found = other.step(actions)
        for mine, theirs in zip(step, found, strict=True):
            assert np.array_equal(mine, theirs)
        assert np.array_equal(ending, other.ending)
        assert state == other.state(7)


@pytest.mark.parametrize("game", [LeducPoker(), Goofspiel(cards=3)], ids=name)
def test_exactly_the_masked_actions_forfeit_and_cost_the_highest_payoff(game: AnyGame) -> None:
    batch = Batch(game, 60, seed=2)
    for _ in range(12):
        actions = batch.random_actions()
        mask = batch.mask.reshape(batch.size, -1, len(batch.moves))[:, 0]
        chosen = actions.reshape(batch.size, -1)
        chosen[:, 0] = np.arange(batch.size) % len(batch.moves)
        mover = np.maximum(batch.player, 0)
        legal = mask[np.arange(batch.size), chosen[:, 0]]
        rewards = batch.step(chosen if batch.sealed else chosen[:, 0]).rewards
        forfeits = batch.ending == BY_FORFEIT
        assert np.array_equal(forfeits, ~legal)
        assert (rewards[np.arange(batch.size), mover][forfeits] == -game.highest_payoff()).all()


def test_memory_is_what_the_game_recalls() -> None:
    game = LeducPoker()
    batch, found = Batch(game, 300, seed=4, memory=True), tree_of(game)
    for _ in range(6):
        for i in range(batch.size):
            node, player = int(batch._state[i, tree.NODE]), int(batch.player[i])
            view = found.view(node, player)
            expected = game.encode(view.observation, player) + game.recall(view.history, player)
            assert tuple(batch.observation[i]) == expected
        batch.step(batch.random_actions())


def strategy(game: AnyGame, opponent: str, view: View) -> list[float]:
    mixed = make_opponent(opponent, stream="").mixed_strategy(view)
    assert mixed is not None
    return [float(mixed.get(move, 0)) for move in game.moves()]


@pytest.mark.parametrize("game", [KuhnPoker(), LiarsDice(faces=2), Goofspiel(cards=3)], ids=name)
def test_opponents_choose_as_the_players_do(game: AnyGame) -> None:
    found, rules = tree_of(game), kernel_of(game).rules(game)
    for opponent in batch_opponents(game):
        policy = chooser(game, opponent)
        assert policy is not None
        assert policy.mixed_strategy is not None
        for seat in (0, 1):
            nodes = [
                node
                for node, turn in enumerate(found.turns)
                if isinstance(turn, Decide) and seat in turn.options
            ]
            rows = np.array([[0, node] for node in nodes], np.int32)
            out = np.zeros((len(rows), len(game.moves())))
            strategy_loop(policy.mixed_strategy)(rules, policy.tables, rows, seat, out)
            expected = [strategy(game, opponent, found.view(node, seat)) for node in nodes]
            assert np.abs(out - expected).max() < 1e-12


def test_an_opponent_draws_moves_by_their_probabilities() -> None:
    """Kuhn poker: how often the equilibrium bets on each card as the first player."""
    game = KuhnPoker()
    batch, policy = Batch(game, 60_000, seed=1), chooser(game, "perfect")
    assert policy is not None
    actions = batch.choices_of(policy, np.zeros(batch.size, np.int64))
    for card in range(1, 4):
        rows = np.flatnonzero(batch.observation[:, 0] == card)
        view = tree_of(game).view(int(batch._state[rows[0], tree.NODE]), 0)
        expected = strategy(game, "perfect", view)
        share = np.bincount(actions[rows], minlength=len(expected)) / len(rows)
        assert np.abs(share - expected).max() < 5 * 0.5 / len(rows) ** 0.5


def test_one_side_is_paid_what_the_equilibrium_is_worth() -> None:
    """Leduc poker, equilibrium against equilibrium: -0.0856 for the first player."""
    game = LeducPoker()
    policy = chooser(game, "perfect")
    assert policy is not None
    games = Versus(game, 20_000, seed=1, opponent="perfect", seat="alternate")
    paid = ended = 0.0
    for _ in range(30):
        seats = games.seats
        rewards, terminated, _ = games.step(games.batch.choices_of(policy, seats))
        signs = np.where(seats == 0, 1.0, -1.0)
        paid, ended = paid + float((signs * rewards).sum()), ended + int(terminated.sum())
    paid += float((np.where(games.seats == 0, 1.0, -1.0) * games.skipped_return).sum())
    ended += int(games.skipped.sum())
    assert paid / ended == pytest.approx(-0.0856, abs=5 * 4 / ended**0.5)


def test_games_that_are_too_large_are_refused() -> None:
    with pytest.raises(NoKernel, match=r"GreatLiarsDice has no kernel.*more than 1,000,000"):
        kernel_of(GreatLiarsDice())
    with pytest.raises(NoKernel, match="more than 1,000,000"):
        Tree(SIEGE)
    with pytest.raises(NoKernel, match="more than 100 positions"):
        Tree(LeducPoker(), most=100)
    with pytest.raises(NoKernel, match="cannot be listed in the time given"):
        Tree(Goofspiel(cards=5), seconds=0)
    with pytest.raises(NoKernel, match="it does not define moves, features, encode"):
        kernel_of(BareGoofspiel())


@pytest.mark.cases(1)
@pytest.mark.parametrize("game", [LiarsDice(faces=7), Goofspiel(cards=13)], ids=name)
def test_games_somewhat_too_large_are_recognised_by_playouts(game: AnyGame) -> None:
    """1.6 million histories that players tell apart, and wide simultaneous choices."""
    told: list[str] = []
    with pytest.raises(NoKernel, match="more than 1,000,000"):
        Tree(game, lambda part, what: told.append(what))
    assert not told, "the positions are followed"


def test_progress_is_told() -> None:
    told: list[str] = []
    Tree(Goofspiel(cards=5), lambda part, what: told.append(what))
    assert told[0].endswith("positions found")


@pytest.mark.long
def test_progress_of_a_batch_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """While positions are found, the game is solved, and the opponent is queried."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # nothing is stored there
    monkeypatch.setattr(tree, "_trees", {})
    monkeypatch.setattr(solutions, "_solved", {})
    told: list[str] = []
    Versus(Goofspiel(cards=5), 2, opponent="perfect", progress=lambda part, what: told.append(what))
    kinds = [what.partition(",")[2][4:] for what in told]
    assert list(dict.fromkeys(kinds)) == [
        "positions found", "states found", "states to value", "states", "positions"
    ]  # fmt: skip


def test_an_opponent_of_an_open_game_is_the_cached_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goofspiel against greedy: the same moves are possible in compiled code and in Python."""
    game = Goofspiel(cards=3)
    policy, player = chooser(game, "greedy"), CachedOpponent(game, "greedy")
    assert policy is not None
    batch = Batch(game, 200, seed=2)
    for _ in range(9):
        seats = np.arange(batch.size) % 2
        chosen = batch.choices_of(policy, seats)
        for i in range(batch.size):
            moves, shares = player._ask(batch.state(i), int(seats[i]))
            assert chosen[i] in moves[np.diff(shares, prepend=0) > 0]
        batch.step(batch.random_actions())
