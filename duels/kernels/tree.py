"""A kernel for any game whose positions can be counted: its rules as arrays of nodes.

A node is a state of the rules; in a game with hidden information, or with numbers that players
recall, it is a state together with what both players have seen. A row of a batch holds the number
of its node, and everything that a kernel computes is looked up there. The nodes are found by the
pure rules when a game is first used, and a game with more than `MOST` of them has no such kernel.

The compiled functions are the same for all games, so they are compiled once for all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import accumulate
from math import lcm
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.infostate_tree import BOTH, clearly_more, events_of, picks_of, random_event
from duels.algorithms.solution import Progress
from duels.algorithms.tree_size import clearly_more_states
from duels.core.game import AnyGame, Chance, Decide, Event, Game, History, Move, Over
from duels.core.payoffs import payoffs
from duels.core.player import MixedStrategy, View
from duels.core.presentation import listed
from duels.kernels import (
    GOING_ON,
    NO_WINNER,
    Array,
    CompiledPolicy,
    Kernel,
    NoKernel,
    Scalar,
    compiled,
    np,
)
from duels.kernels.driver import BY_FORFEIT
from duels.kernels.random_streams import CHANCE, PICKS, below

MOST = 1_000_000  # nodes, which Python finds in about half a minute
FEW = 20_000  # nodes that are found before playouts would be done
PLAYOUTS, PLAYOUT_STEPS = 3_000, 80_000  # to recognise a larger game, in about a second
STEP = 20_000  # nodes between two progress reports
ASKED = 2_000  # nodes between two progress reports while an opponent is queried
KEPT = 4  # trees
ENCODING = ("moves", "features", "encode")
NODE = 1  # the column of a row after DECISIONS
BY_CHANCE = -2  # instead of a winner: a node at which chance acts
WHOLE = 1 << 31  # random numbers for moves are in units of 1 / WHOLE


class Memory:
    """What one player has seen: numbers of histories, 0 for the empty one."""

    def __init__(self) -> None:
        self._after: dict[tuple[int, Event], int] = {}
        self._before: list[tuple[int, Event]] = []

    def follow(self, number: int, seen: Event) -> int:
        """The history after one more event as the player sees it."""
        found = self._after.get((number, seen))
        if found is None:
            self._before.append((number, seen))
            found = self._after[number, seen] = len(self._before)
        return found

    def history(self, number: int) -> History:
        events: list[Event] = []
        while number:
            number, event = self._before[number - 1]
            events.append(event)
        return tuple(events[::-1])


class Nodes(NamedTuple):
    """The arrays that compiled functions read."""

    winner: Array  # of each node: the winner, NO_WINNER, GOING_ON or BY_CHANCE
    payoff: Array  # of each node: what the winner is paid
    highest: float  # what a player pays who forfeits
    mover: Array  # of each node: the player who chooses
    options: Array  # of each node, by player: a number of a set of actions
    slot: Array  # of each set and action: its place in the set, or -1
    size: Array  # of each set
    action: Array  # of each set: its actions, ascending
    begin: Array  # of each node: its first child
    child: Array  # nodes; of a simultaneous choice, by the first player's place and the second's
    odds: Array  # of each child of chance: the weights up to and with it, as whole numbers
    seen: Array  # of each node, by player: a row of `observation`
    observation: Array


class Tree:
    """The nodes of a game; raises `NoKernel` if there are too many, or if it cannot be encoded."""

    def __init__(
        self,
        game: AnyGame,
        progress: Progress | None = None,
        *,
        most: int = MOST,
        seconds: float | None = None,
    ) -> None:
        missing = [name for name in ENCODING if getattr(type(game), name) is getattr(Game, name)]
        if missing:
            raise _refused(game, f"it does not define {listed(missing)}")
        self.game, self.most = game, most
        self.remembers = game.private or bool(game.recalled())
        self.memories = (Memory(), Memory())
        self.states: list[Any] = []
        self.known: tuple[list[int], list[int]] = ([], [])  # of each node: both players' histories
        self.turns: list[Decide | Chance | Over] = []
        self._index = {move: number for number, move in enumerate(game.moves())}
        self._number: dict[Any, int] = {}
        self._begin, self._child, self._odds = [0], list[int](), list[int]()
        self._find(progress, None if seconds is None else time.monotonic() + seconds)
        kinds = {len(turn.options) for turn in self.turns if isinstance(turn, Decide)}
        if len(kinds) > 1:
            raise _refused(game, "some of its choices are simultaneous and others are not")
        self.sealed = kinds == {2}
        self.nodes = self._arrays()
        self.policies: dict[Any, CompiledPolicy] = {}  # of opponents, made when first used
        del self._begin, self._child, self._odds, self._number

    # Nodes

    def _find(self, progress: Progress | None, end: float | None) -> None:
        game, done, few = self.game, 0, FEW
        self._node(game.start(), 0, 0)
        while done < len(self.states):
            state, turn = self.states[done], self.turns[done]
            if not isinstance(turn, Over):
                events = [*events_of(self._ascending(turn))]
                for event, _ in events:
                    one, two = (seen[done] for seen in self.known)
                    if self.remembers:
                        one = self.memories[0].follow(one, game.redact(state, event, 0))
                        two = self.memories[1].follow(two, game.redact(state, event, 1))
                    after = game.play(state, *picks_of(event))
                    self._child.append(self._node(after, one, two))
                if isinstance(turn, Chance):
                    self._odds += _weights(game, turn)
                else:
                    self._odds += [0] * len(events)
            self._begin.append(len(self._child))
            done += 1
            many = few < len(self.states)
            if len(self.states) > self.most or (many and self._clearly_more()):
                raise _refused(game, f"it has more than {self.most:,} positions")
            few = self.most if many else few
            if done % STEP == 0:
                if end is not None and time.monotonic() > end:
                    raise _refused(game, "its positions cannot be listed in the time given")
                if progress is not None:
                    count = len(self.states)
                    progress(done / count, f"{count:,} positions found")

    def _ascending(self, turn: Decide | Chance) -> Decide | Chance:
        """A turn with its options in the order of actions."""
        if isinstance(turn, Chance):
            return turn
        return Decide({
            player: tuple(sorted(options, key=self._index.__getitem__))
            for player, options in turn.options.items()
        })  # fmt: skip

    def _node(self, state: Any, one: int, two: int) -> int:
        key = (state, one, two) if self.remembers else state
        found = self._number.get(key)
        if found is None:
            found = self._number[key] = len(self.states)
            self.states.append(state)
            self.turns.append(self.game.turn(state))
            self.known[0].append(one)
            self.known[1].append(two)
        return found

    def _clearly_more(self) -> bool:
        """Whether random playouts show that there are more than `most` nodes."""
        if self.remembers and clearly_more(self.game, (BOTH,), self.most):
            return True
        randomness, steps = Random("playouts"), 0
        playouts: list[list[Any]] = []
        while len(playouts) < PLAYOUTS and steps < PLAYOUT_STEPS:
            playouts.append([*self._playout(randomness)])
            steps += len(playouts[-1])
        return clearly_more_states(playouts, self.most)

    def _playout(self, randomness: Random) -> Iterator[Any]:
        state, one, two = self.game.start(), list[Event](), list[Event]()
        for _ in range(PLAYOUT_STEPS):
            turn = self.game.turn(state)
            if isinstance(turn, Over):
                return
            event = random_event(turn, randomness)
            if self.remembers:
                one.append(self.game.redact(state, event, 0))
                two.append(self.game.redact(state, event, 1))
            state = self.game.play(state, *picks_of(event))
            yield state, tuple(one), tuple(two)

    # Arrays

    def _arrays(self) -> Nodes:
        game, index, count = self.game, self._index, len(self.states)
        winner, payoff = np.full(count, GOING_ON, np.int8), np.zeros(count)
        mover, chosen = np.zeros(count, np.int8), np.zeros((count, 2), np.int32)
        seen = np.zeros((count, 2), np.int32)
        sets: dict[tuple[Move, ...], int] = {(): 0}
        rows: dict[tuple[int, ...], int] = {}
        child, begin = np.array(self._child, np.int32), np.array(self._begin, np.int64)
        for node, turn in enumerate(self.turns):
            if isinstance(turn, Chance):
                winner[node] = BY_CHANCE
                continue
            if isinstance(turn, Over):
                winner[node] = NO_WINNER if turn.winner is None else turn.winner
                payoff[node] = max(payoffs(turn))
            else:
                mover[node] = min(turn.options)
                for player, options in turn.options.items():
                    chosen[node, player] = sets.setdefault(options, len(sets))
            for player in (0, 1):
                row = self._observed(node, player)
                seen[node, player] = rows.setdefault(row, len(rows))
        size = np.array([len(options) for options in sets], np.int32)
        slot = np.full((len(sets), len(index)), -1, np.int32)
        action = np.zeros((len(sets), max(1, *size)), np.int32)
        for number, options in enumerate(sets):
            ordered = sorted(index[move] for move in options)
            action[number, : len(ordered)] = ordered
            slot[number, ordered] = range(len(ordered))
        return Nodes(
            winner, payoff, float(game.highest_payoff()), mover, chosen, slot, size, action,
            begin, child, np.array(self._odds, np.int64), seen, np.array([*rows], np.int16),
        )  # fmt: skip

    def _observed(self, node: int, player: int) -> tuple[int, ...]:
        game = self.game
        found = tuple(game.encode(game.observe(self.states[node], player), player))
        if game.recalled():
            found += tuple(game.recall(self.history(node, player), player))
        return found

    def history(self, node: int, player: int) -> History:
        """What a player has seen at a node; empty in a game in which that does not matter."""
        return self.memories[player].history(self.known[player][node])

    def view(self, node: int, player: int) -> View:
        """What a player who chooses at a node sees."""
        turn, state = self.turns[node], self.states[node]
        assert isinstance(turn, Decide)
        seen = self.game.observe(state, player)
        return View(self.game, player, seen, self.history(node, player), turn.options[player])

    def policy(
        self, strategy_of: Callable[[View], MixedStrategy], progress: Progress | None = None
    ) -> CompiledPolicy:
        """An opponent from its mixed strategies, each queried once."""
        nodes = self.nodes
        row = np.zeros_like(nodes.options)
        rows: dict[tuple[int, int], int] = {}
        uptos: list[Array] = []
        for node, turn in enumerate(self.turns):
            if progress is not None and node % ASKED == 0:
                progress(node / len(self.turns), f"asking about {len(self.turns):,} positions")
            for player in turn.options if isinstance(turn, Decide) else ():
                key = player, self.known[player][node] if self.remembers else node
                if key not in rows:
                    rows[key] = len(uptos)
                    strategy = strategy_of(self.view(node, player))
                    uptos.append(self._upto(strategy, nodes.options[node, player]))
                row[node, player] = rows[key]
        return CompiledPolicy(drawn, Table(row, np.array(uptos)), mixed_strategy)

    def _upto(self, strategy: MixedStrategy, options: int) -> Array:
        """The probabilities of the actions of a set, each with those before it."""
        nodes, chance = self.nodes, np.zeros(self.nodes.action.shape[1])
        for move, p in strategy.items():
            chance[nodes.slot[options, self._index[move]]] = p
        upto = np.cumsum(chance / chance.sum())
        upto[np.flatnonzero(chance)[-1] :] = 1.0  # more than any random number
        return upto

    @cached_property
    def _by_state(self) -> dict[Any, int]:
        found: dict[Any, int] = {}
        for node, state in enumerate(self.states):
            found.setdefault(state, node)
        return found

    def number(self, state: Any) -> int:
        """The node of a state; where players remember more than that, the first one found."""
        return self._by_state[state]


def _refused(game: AnyGame, why: str) -> NoKernel:
    return NoKernel(
        f"{type(game).__name__} has no kernel, and none can be built from its rules: {why}"
    )


def _weights(game: AnyGame, turn: Chance) -> list[int]:
    """The odds of chance as whole numbers, each with the sum of those before it."""
    whole = lcm(*(odd.denominator for odd in turn.odds.values()))
    if whole >= 1 << 32:
        raise _refused(game, "the odds of a chance event have too large a denominator")
    return [*accumulate(int(odd * whole) for odd in turn.odds.values())]


# The trees of the games used last, or why there is none: a refusal takes as long as a tree.
_trees: dict[AnyGame, Tree | NoKernel] = {}


def tree_of(game: AnyGame, progress: Progress | None = None) -> Tree:
    """The tree of a game, found once."""
    found = _trees.get(game)
    if found is None:
        try:
            found = Tree(game, progress)
        except NoKernel as error:
            found = error
        _trees[game] = found
        for oldest in [*_trees][:-KEPT]:
            _trees.pop(oldest, None)
    if isinstance(found, NoKernel):
        raise NoKernel(str(found))
    return found


# The kernel


def rules(game: AnyGame) -> Nodes:
    return tree_of(game).nodes


def sealed(game: AnyGame) -> bool:
    return tree_of(game).sealed


def pack(game: AnyGame, state: Any) -> tuple[int, ...]:
    return (tree_of(game).number(state),)


def unpack(game: AnyGame, row: tuple[int, ...]) -> Any:
    return tree_of(game).states[row[0]]


@compiled
def settle(rules: Nodes, state: Array, streams: Array, i: int, node: int) -> Scalar:
    """Play chance events from a node on; returns the winner, NO_WINNER or GOING_ON."""
    while rules.winner[node] == BY_CHANCE:
        k, end = rules.begin[node], rules.begin[node + 1]
        if end - k > 1:
            drawn = below(streams, i, CHANCE, rules.odds[end - 1])
            while rules.odds[k] <= drawn:
                k += 1
        node = rules.child[k]
    state[i, NODE] = node
    return rules.winner[node]


@compiled
def begin(rules: Nodes, state: Array, streams: Array, i: int) -> None:
    settle(rules, state, streams, i, 0)


@compiled
def mover(rules: Nodes, state: Array, i: int) -> Scalar:
    return rules.mover[state[i, NODE]]


@compiled
def legal(rules: Nodes, state: Array, i: int, player: int, action: int) -> Scalar:
    return rules.slot[rules.options[state[i, NODE], player], action] >= 0


@compiled
def choose(rules: Nodes, state: Array, streams: Array, i: int, player: int) -> Scalar:
    options = rules.options[state[i, NODE], player]
    return np.int64(rules.action[options, below(streams, i, PICKS, rules.size[options])])


@compiled
def play(rules: Nodes, state: Array, streams: Array, i: int, first: int, second: int) -> Scalar:
    node = state[i, NODE]
    one, two = rules.options[node, 0], rules.options[node, 1]
    if rules.size[one] > 0 and rules.size[two] > 0:
        place = rules.slot[one, first] * rules.size[two] + rules.slot[two, second]
    else:
        place = rules.slot[max(one, two), first]
    return settle(rules, state, streams, i, rules.child[rules.begin[node] + place])


@compiled
def mask(rules: Nodes, state: Array, i: int, player: int, out: Array, s: int) -> None:
    options = rules.options[state[i, NODE], player]
    for action in range(out.shape[2]):
        out[i, s, action] = rules.slot[options, action] >= 0


@compiled
def observe(rules: Nodes, state: Array, i: int, player: int, out: Array, s: int) -> None:
    row = rules.seen[state[i, NODE], player]
    for column in range(out.shape[2]):  # with or without what players recall
        out[i, s, column] = rules.observation[row, column]


@compiled
def payoff(rules: Nodes, state: Array, i: int, ended: int) -> Scalar:
    return rules.highest if ended == BY_FORFEIT else rules.payoff[state[i, NODE]]


KERNEL = Kernel(
    Game, 2, "int32", rules, sealed, pack, unpack, begin, mover, legal, choose, play, mask, observe,
    payoff=payoff,
)  # fmt: skip


def tree_kernel(game: AnyGame, progress: Progress | None = None) -> Kernel:
    """The kernel, after a check that the game has a tree."""
    tree_of(game, progress)
    return KERNEL


# Opponents


class Table(NamedTuple):
    """The mixed strategies of an opponent at every node."""

    row: Array  # of each node, by player
    upto: Array  # of each row and place in the set of options: the probability up to and with it


@compiled
def drawn(rules: Nodes, table: Table, state: Array, streams: Array, i: int, player: int) -> Scalar:
    node, place = state[i, NODE], 0
    row, luck = table.row[node, player], below(streams, i, PICKS, WHOLE) / WHOLE
    while table.upto[row, place] <= luck:
        place += 1
    return np.int64(rules.action[rules.options[node, player], place])


@compiled
def mixed_strategy(
    rules: Nodes, table: Table, state: Array, i: int, player: int, out: Array
) -> None:
    node, before = state[i, NODE], 0.0
    row, options = table.row[node, player], rules.options[node, player]
    for place in range(rules.size[options]):
        out[i, rules.action[options, place]] += table.upto[row, place] - before
        before = table.upto[row, place]
