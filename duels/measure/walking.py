"""Which walk serves: the one over the pure rules while it is short, else the compiled one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from duels.core.game import AnyGame, Move
from duels.measure.plain import Ask, TooLarge, Walk
from duels.measure.policies import Asked, view_of
from duels.solve.compiled import Array, have_numba, np
from duels.solve.solution import Progress, Unsolved, Value

if TYPE_CHECKING:
    from duels.measure.rows import AskRows, Rows

STEPS = 50_000  # that Python walks in half a second: less than compiling takes
TELL = 2_000  # positions between two words of progress while a player is asked one by one


def walk(
    game: AnyGame, seat: int, policy: Asked, other: Asked | None = None,
    progress: Progress | None = None, large: bool = False,
) -> Walk | Rows:  # fmt: skip
    """What a policy in one seat and any responder, or one other policy, can reach.

    `large`: it is known that the pure rules would take long.
    """
    if game.private:
        raise Unsolved(
            f"{game.slug} has hidden hands: what is best against a state is not what a player "
            "could find"
        )
    mine, theirs = by_states(policy), None if other is None else by_states(other)
    if not large or not have_numba():
        try:
            return Walk(game, seat, mine, theirs, steps=STEPS)
        except TooLarge:
            pass
    if have_numba():
        from duels.envs.kernels import NoKernel
        from duels.measure.rows import ByChance, Rows

        try:
            return Rows(
                game, seat, by_rows(policy, progress),
                None if other is None else by_rows(other, progress), progress=progress,
            )  # fmt: skip
        except (NoKernel, ByChance):
            pass
    try:
        return Walk(game, seat, mine, theirs, progress=progress)
    except TooLarge as error:
        hint = "" if have_numba() else "; with numba there is no limit: pip install 'duels[solve]'"
        raise Unsolved(f"{error}{hint}") from None


def score_against(
    found: Walk | Rows, policy: Asked, perfect: Asked, progress: Progress | None = None
) -> float:
    """What the perfect player scores against the policy of a walk.

    In turns perfect play leaves little to reach, and that is walked again. Where both choose at
    once it leaves nearly everything, and the walk that is there serves.
    """
    if isinstance(found, Walk) or not found.sealed:
        large = not isinstance(found, Walk)
        again = walk(found.game, found.seat, policy, perfect, progress=progress, large=large)
        return float(again.values()[0])
    from duels.measure.optimal import sealed_mixes

    return found.against(lambda rows, seat: sealed_mixes(found.game, rows, seat))


def by_states(policy: Asked) -> Ask:
    def ask(states: Sequence[Any], seat: int) -> list[dict[Move, float]]:
        return policy.mixes([view_of(policy.game, state, seat) for state in states])

    return ask


def by_rows(policy: Asked, progress: Progress | None) -> AskRows:
    """How a policy is asked about rows: in arrays or compiled where it can be, else one by one."""
    from duels.measure.rows import unpacked

    game = policy.game
    index = {move: number for number, move in enumerate(game.moves())}
    fill = None if policy.player is None else built_in(game, type(policy.player))

    def ask(rows: Array, seat: int, observations: Array, masks: Array) -> Array:
        if policy.array is not None:
            return policy.rows(observations, masks, seat)
        out = np.zeros(masks.shape)
        if fill is not None:
            fill(rows, seat, out)
            return out
        for number, row in enumerate(rows):
            if progress is not None and number % TELL == 0:
                progress(number / len(rows), f"asking about {len(rows):,} positions")
            (mix,) = policy.mixes([view_of(game, unpacked(game, row), seat)])
            for move, p in mix.items():
                out[number, index[move]] = p
        return out

    return ask


def built_in(game: AnyGame, kind: type) -> Callable[[Array, int, Array], None] | None:
    """What fills the mixes of a built-in player in rows where it chooses, if that is compiled."""
    from duels.envs.kernels import kernel_of
    from duels.envs.kernels.oppose import filling
    from duels.envs.opponents import chooser
    from duels.players import BUILT_IN, class_of

    name = next((name for name in BUILT_IN if class_of(name) is kind), None)
    found = None if name is None else chooser(game, name)
    if found is None or found.mix is None:
        return None
    rules, tables, loop = kernel_of(game).rules(game), found.tables, filling(found.mix)
    return lambda rows, seat, out: loop(rules, tables, rows, seat, out)


def optimal_values(found: Walk | Rows) -> Any:
    """What each position is worth to the responder when both play perfectly."""
    from duels.solve import solve

    if isinstance(found, Walk):
        solution = solve(found.game)
        worth: list[Value] = [solution.value(state) for state in found.states]
        return [float(v if found.responder == 0 else 1 - v) for v in worth]
    from duels.measure.optimal import optimal

    values = optimal(found.game, found.rows)
    return values if found.responder == 0 else 1 - values
