"""Selects pure or compiled enumeration of the positions that a policy can reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from duels.algorithms.best_response import LARGEST, Ask, Enumeration, TooLarge
from duels.algorithms.compiled import Array, have_numba, np
from duels.algorithms.solution import Progress, Unsolved, Value
from duels.algorithms.tree_size import clearly_more_states
from duels.core.extras import install_command
from duels.core.game import AnyGame, Chance, Decide, Move
from duels.core.payoffs import unit_of
from duels.envs.policy import view_of
from duels.measure.policies import QueriedPolicy

if TYPE_CHECKING:
    from duels.measure.compiled_enumeration import AskPositions, CompiledEnumeration

SMALL = 50_000  # transitions that Python enumerates in half a second, less than compiling takes
PLAYOUTS = 3_000  # at random, to recognise a game that is too large for Python
PLAYOUT_STEPS = 120_000  # of so many playouts, at most about two seconds
ENOUGH_STEPS = 40_000  # of all playouts
TELL = 2_000  # positions between progress reports while a player is queried one by one


def enumerate_positions(
    game: AnyGame, seat: int, policy: QueriedPolicy, other: QueriedPolicy | None = None,
    progress: Progress | None = None, large: bool = False,
) -> Enumeration | CompiledEnumeration:  # fmt: skip
    """The positions that a policy in one seat can reach with any responder, or with `other`.

    `large`: enumeration in Python is known to take long and is not tried first.
    """
    mine, theirs = state_query(policy), None if other is None else state_query(other)
    if not large or not have_numba():
        try:
            return Enumeration(game, seat, mine, theirs, largest=SMALL)
        except TooLarge:
            pass
    if have_numba() and not unit_of(game).pays:
        from duels.kernels import NoKernel
        from duels.measure.compiled_enumeration import ChanceInKernel, CompiledEnumeration

        try:
            return CompiledEnumeration(
                game, seat, position_query(policy, progress),
                None if other is None else position_query(other, progress), progress=progress,
            )  # fmt: skip
        except (NoKernel, ChanceInKernel):
            pass
    try:
        randomness, playouts = Random("playouts"), list[list[Any]]()
        while sum(map(len, playouts)) < ENOUGH_STEPS:  # more of them where games are short
            playouts += random_playouts(game, {seat: mine, 1 - seat: theirs}, randomness)
            if clearly_more_states(playouts, LARGEST):
                raise TooLarge(game, LARGEST)
        return Enumeration(game, seat, mine, theirs, progress=progress)
    except TooLarge as error:
        if have_numba():
            raise
        raise Unsolved(
            f"{error}; with numba there is no limit; to install it: {install_command('solve')}"
        ) from None


def random_playouts(
    game: AnyGame, queries: Mapping[int, Ask | None], randomness: Random
) -> list[list[Any]]:
    """The transitions of random playouts, in which a policy plays its moves equally often."""
    playouts: list[list[Any]] = [[] for _ in range(PLAYOUTS)]
    going, steps = [(playout, game.start()) for playout in playouts], 0
    while going and steps < PLAYOUT_STEPS:
        turns = {state: game.turn(state) for _, state in going}
        chosen: dict[Any, list[Sequence[Move]]] = {}
        for state, turn in turns.items():
            if isinstance(turn, Chance):
                chosen[state] = [[*turn.odds]]
            elif isinstance(turn, Decide):
                chosen[state] = [turn.options[player] for player in sorted(turn.options)]
        for player, ask in queries.items():
            asked = {
                state: sorted(turn.options).index(player)
                for state, turn in turns.items()
                if isinstance(turn, Decide) and player in turn.options
            }
            if ask is not None and asked:
                answers = ask([*asked], player)
                for (state, place), strategy in zip(asked.items(), answers, strict=True):
                    chosen[state][place] = [move for move, p in strategy.items() if p]
        after = []
        for playout, state in going:
            if state in chosen:
                picks = tuple(map(randomness.choice, chosen[state]))
                playout.append((state, picks))
                after.append((playout, game.play(state, *picks)))
        going = after
        steps += len(going)
    return playouts


def score_against(
    found: Enumeration | CompiledEnumeration,
    policy: QueriedPolicy,
    perfect: QueriedPolicy,
    progress: Progress | None = None,
) -> float:
    """The perfect player's value against the policy of an enumeration, as the latter has it.

    Where players take turns, perfect play reaches few positions, which are enumerated again. Where
    choices are simultaneous it reaches nearly all, and the given enumeration is used.
    """
    if isinstance(found, Enumeration) or not found.sealed:
        large = not isinstance(found, Enumeration)
        again = enumerate_positions(
            found.game, found.seat, policy, perfect, progress=progress, large=large
        )
        return float(again.values()[0])
    from duels.measure.perfect_values import simultaneous_strategies

    return found.against(lambda rows, seat: simultaneous_strategies(found.game, rows, seat))


def state_query(policy: QueriedPolicy) -> Ask:
    """Queries a policy about states of the pure rules."""

    def ask(states: Sequence[Any], seat: int) -> list[dict[Move, float]]:
        return policy.strategies([view_of(policy.game, state, seat) for state in states])

    return ask


def position_query(policy: QueriedPolicy, progress: Progress | None) -> AskPositions:
    """Queries a policy about packed positions: as arrays or compiled if possible, else singly."""
    from duels.measure.compiled_enumeration import unpacked

    game = policy.game
    index = {move: number for number, move in enumerate(game.moves())}
    fill = None if policy.player is None else built_in(game, type(policy.player), progress)

    def ask(rows: Array, seat: int, observations: Array, masks: Array) -> Array:
        if policy.array is not None:
            return policy.probabilities(observations, masks, seat)
        out = np.zeros(masks.shape)
        if fill is not None:
            fill(rows, seat, out)
            return out
        for number, row in enumerate(rows):
            if progress is not None and number % TELL == 0:
                progress(number / len(rows), f"asking about {len(rows):,} positions")
            (strategy,) = policy.strategies([view_of(game, unpacked(game, row), seat)])
            for move, p in strategy.items():
                out[number, index[move]] = p
        return out

    return ask


def built_in(
    game: AnyGame, kind: type, progress: Progress | None = None
) -> Callable[[Array, int, Array], None] | None:
    """The compiled function that fills a built-in player's mixed strategies, if there is one."""
    from duels.envs.opponents import chooser
    from duels.kernels import kernel_of
    from duels.kernels.opponent_loops import strategy_loop
    from duels.players import BUILT_IN, class_of

    name = next((name for name in BUILT_IN if class_of(name) is kind), None)
    found = None if name is None else chooser(game, name, progress)
    if found is None or found.mixed_strategy is None:
        return None
    rules, tables, loop = (
        kernel_of(game).rules(game),
        found.tables,
        strategy_loop(found.mixed_strategy),
    )
    return lambda rows, seat, out: loop(rules, tables, rows, seat, out)


def optimal_values(found: Enumeration | CompiledEnumeration) -> Any:
    """The responder's value of each position under perfect play, as an enumeration has it."""
    from duels.algorithms import solve

    if isinstance(found, Enumeration):
        solution = solve(found.game)
        worth: list[Value] = [solution.value(state) for state in found.states]
        parts = [found.unit.part(value) for value in worth]
        return [part if found.responder == 0 else 1 - part for part in parts]
    from duels.measure.perfect_values import optimal

    values = optimal(found.game, found.rows)
    return values if found.responder == 0 else 1 - values
