"""Opponents of batches.

A game's kernel may have an opponent in compiled code (`CompiledPolicy`). Otherwise the Python
player is queried once for each position and its mixed strategies are cached (`CachedOpponent`),
which works for every game.

A batch has no history except what a kernel stores in its states. So `ismcts` cannot play in it, and
players that need the solution of a game with hidden hands only if the kernel has them. External
players are queried one position at a time and see no history (`ExternalOpponent`).
"""

from __future__ import annotations

from duels.algorithms import solve
from duels.algorithms.solution import Progress
from duels.core.errors import Misbehaved, OptionError, UnknownName, quote
from duels.core.extras import Array
from duels.core.game import AnyGame
from duels.core.player import answer
from duels.core.presentation import listed
from duels.envs.batch import Batch
from duels.envs.policy import view_of
from duels.kernels import CompiledPolicy, kernel_of, no_policy, np, tree
from duels.kernels.opponent_loops import uniform
from duels.players import (
    BUILT_IN,
    HUMAN,
    OPPONENT,
    class_of,
    external_kind,
    make_opponent,
    make_player,
    parse_spec,
)
from duels.players.base import MixedStrategyOpponent

CACHED = 200_000  # mixed strategies


def batch_opponents(game: AnyGame) -> list[str]:
    """The built-in players that need no history, or none but what the kernel stores."""
    classes = {name: class_of(name) for name in BUILT_IN}
    kernel = kernel_of(game)
    hidden = game.private and kernel.chooser is no_policy and kernel is not tree.KERNEL
    return [
        name
        for name, found in classes.items()
        if not found.needs_history and not (hidden and found.needs_solution)
    ]


def opponent_name(game: AnyGame, opponent: str) -> str:
    """The full name of an opponent that can play this game in a batch."""
    try:
        found = parse_spec(opponent)
    except UnknownName as error:
        raise OptionError(f"{error}; or give a policy") from None
    able = batch_opponents(game)
    if found.kind in (OPPONENT, HUMAN) and found.name not in able:
        raise OptionError(
            f"in a batch of {game.slug} the opponent is one of {listed(able)}, or a policy; "
            f"got {quote(opponent)}"
        )
    return found.name if found.kind == OPPONENT else found.text


def chooser(
    game: AnyGame, opponent: str, progress: Progress | None = None
) -> CompiledPolicy | None:
    """An opponent in compiled code, by its full name; None if it has to be queried in Python."""
    if opponent == "random":
        return uniform(kernel_of(game, progress))
    if external_kind(opponent):
        return None
    if class_of(opponent).needs_solution:
        solve(game, progress)  # now, so that errors are raised here
    kernel = kernel_of(game, progress)
    if kernel is tree.KERNEL:
        return tabulated(game, opponent, progress)
    return kernel.chooser(game, opponent)


def tabulated(game: AnyGame, opponent: str, progress: Progress | None = None) -> CompiledPolicy:
    """A built-in opponent in a game with a kernel made of its tree: queried once at every node."""
    found = tree.tree_of(game)
    if opponent not in found.policies:
        player = make_opponent(opponent, stream="")  # only its probabilities are used
        assert isinstance(player, MixedStrategyOpponent)
        found.policies[opponent] = found.policy(player.mixed_strategy, progress)
    return found.policies[opponent]


class CachedOpponent:
    """A built-in opponent with cached mixed strategies; moves are drawn from each game's stream."""

    def __init__(self, game: AnyGame, opponent: str) -> None:
        self.game = game
        player = make_opponent(opponent, stream="")  # only its probabilities are used
        assert isinstance(player, MixedStrategyOpponent)
        if player.needs_solution:
            solve(game)  # now, so that errors are raised here
        self.player = player
        self.index = {move: number for number, move in enumerate(game.moves())}
        self._found: dict[bytes, tuple[Array, Array]] = {}

    def choose(self, batch: Batch, rows: Array, seats: Array, observations: Array) -> Array:
        """An action for each of these games of a batch, in which these seats must choose."""
        actions = np.empty(len(rows), np.int64)
        uniforms = batch.uniforms(rows)
        sides = seats.tolist()
        for k, row in enumerate(rows.tolist()):
            key = observations[k].tobytes() + (b"1" if sides[k] else b"0")
            found = self._found.get(key)
            if found is None:
                if len(self._found) >= CACHED:
                    self._found.clear()
                found = self._found[key] = self._ask(batch.state(row), sides[k])
            moves, shares = found
            actions[k] = moves[shares.searchsorted(uniforms[k], side="right")]
        return actions

    def _ask(self, state: tuple[object, ...], seat: int) -> tuple[Array, Array]:
        """The opponent's moves and their cumulative probabilities."""
        strategy = self.player.mixed_strategy(view_of(self.game, state, seat))
        shares = np.cumsum(list(strategy.values()))
        shares[-1] = 1.0  # uniform numbers are below 1, whatever the rounding error
        return np.array([self.index[move] for move in strategy]), shares


class ExternalOpponent:
    """An external player, queried about one game after the other.

    Its failures are raised as `Misbehaved`, since a batch cannot report them; the games are left
    unchanged. Its randomness in each choice comes from the game's stream.
    """

    def __init__(self, game: AnyGame, opponent: str) -> None:
        self.game, self.name = game, opponent
        self.player = make_player(opponent, stream="")
        self.index = {move: number for number, move in enumerate(game.moves())}

    def choose(self, batch: Batch, rows: Array, seats: Array, observations: Array) -> Array:
        """An action for each of these games of a batch, in which these seats must choose."""
        actions, uniforms = np.empty(len(rows), np.int64), batch.uniforms(rows)
        for k, (row, seat) in enumerate(zip(rows.tolist(), seats.tolist(), strict=True)):
            view = view_of(self.game, batch.state(row), seat)
            self.player.stream = repr(float(uniforms[k]))
            try:
                move = answer(self.player, view)
                if move not in view.options:
                    raise Misbehaved(f"{quote(move)} is not an option")
            except Misbehaved as error:
                raise Misbehaved(f"the opponent {self.name} failed: {error}") from error
            actions[k] = self.index[move]
        return actions
