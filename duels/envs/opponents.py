"""Opponents over arrays.

A game's kernel has them in compiled code (`Chooser`). One that has not is asked in Python what each
would do, once for each position, and that is remembered (`Mixes`): any game can be played so at
once.

A batch keeps no history but what a kernel keeps in its states. So `ismcts` cannot play in it, and
what knows the solution of a game with secret hands only where the kernel has it. Players from
outside are asked one by one, and see no history (`Outside`).
"""

from __future__ import annotations

from duels.core.errors import Misbehaved, OptionError, UnknownName, quote
from duels.core.game import AnyGame, Decide
from duels.core.player import View, answer
from duels.core.show import listed
from duels.envs.extras import Array
from duels.envs.kernels import Chooser, kernel_of, nobody, np
from duels.envs.kernels.batch import Batch
from duels.envs.kernels.oppose import uniform
from duels.players import BUILT_IN, class_of, make, named, outside, player
from duels.players.opponent import Mixed
from duels.solve import solve

REMEMBERED = 200_000  # mixes


def able(game: AnyGame) -> list[str]:
    """The opponents that need no history, or none but what the kernel keeps."""
    classes = {name: class_of(name) for name in BUILT_IN}
    secret = game.private and kernel_of(game).chooser is nobody
    return [
        name
        for name, found in classes.items()
        if not found.needs_history and not (secret and found.needs_solution)
    ]


def known(game: AnyGame, opponent: str) -> str:
    """The full name of an opponent who can play this game in a batch."""
    try:
        found = named(opponent).name
    except UnknownName as error:
        raise OptionError(f"{error}; or give a policy") from None
    if not outside(found) and found not in able(game):
        raise OptionError(
            f"in a batch of {game.slug} the opponent is one of {listed(able(game))}, or a policy; "
            f"got {quote(opponent)}"
        )
    return found


def chooser(game: AnyGame, opponent: str) -> Chooser | None:
    """An opponent in compiled code, by its full name; None if it has to be asked in Python."""
    if opponent == "random":
        return uniform(game.slug)
    if outside(opponent):
        return None
    if class_of(opponent).needs_solution:
        solve(game)  # now, or say now that it cannot be
    return kernel_of(game).chooser(game, opponent)


class Mixes:
    """How one opponent chooses, by what it sees; the luck comes from each game's own stream."""

    def __init__(self, game: AnyGame, opponent: str) -> None:
        self.game = game
        player = make(opponent, stream="")  # only its mix is asked for
        assert isinstance(player, Mixed)
        if player.needs_solution:
            solve(game)  # now, or say now that it cannot be
        self.player = player
        self.index = {move: number for number, move in enumerate(game.moves())}
        self._found: dict[bytes, tuple[Array, Array]] = {}

    def choose(self, batch: Batch, rows: Array, seats: Array, observations: Array) -> Array:
        """An action for each of some rows of a batch, in which these seats must choose."""
        actions = np.empty(len(rows), np.int64)
        luck = batch.luck(rows)
        sides = seats.tolist()
        for k, row in enumerate(rows.tolist()):
            key = observations[k].tobytes() + (b"1" if sides[k] else b"0")
            found = self._found.get(key)
            if found is None:
                if len(self._found) >= REMEMBERED:
                    self._found.clear()
                found = self._found[key] = self._ask(batch.state(row), sides[k])
            moves, shares = found
            actions[k] = moves[shares.searchsorted(luck[k], side="right")]
        return actions

    def _ask(self, state: tuple[object, ...], seat: int) -> tuple[Array, Array]:
        """The moves it may choose and the sum of the chances up to each."""
        turn = self.game.turn(state)
        assert isinstance(turn, Decide)
        seen = self.game.observe(state, seat)
        mix = self.player.mix(View(self.game, seat, seen, (), turn.options[seat]))
        shares = np.cumsum(list(mix.values()))
        shares[-1] = 1.0  # luck is below it, whatever rounding did
        return np.array([self.index[move] for move in mix]), shares


class Outside:
    """A player from outside, asked about one game after the other.

    What it does wrong is raised: a batch has no place for the reason, and its games are left as
    they were. Its randomness in each choice is from the game's own stream.
    """

    def __init__(self, game: AnyGame, opponent: str) -> None:
        self.game, self.name = game, opponent
        self.player = player(opponent, stream="")
        self.index = {move: number for number, move in enumerate(game.moves())}

    def choose(self, batch: Batch, rows: Array, seats: Array, observations: Array) -> Array:
        """An action for each of some rows of a batch, in which these seats must choose."""
        actions, luck = np.empty(len(rows), np.int64), batch.luck(rows)
        for k, (row, seat) in enumerate(zip(rows.tolist(), seats.tolist(), strict=True)):
            state = batch.state(row)
            turn = self.game.turn(state)
            assert isinstance(turn, Decide)
            self.player.stream = repr(float(luck[k]))
            options = turn.options[seat]
            view = View(self.game, seat, self.game.observe(state, seat), (), options)
            try:
                move = answer(self.player, view)
                if move not in options:
                    raise Misbehaved(f"{quote(move)} is not an option")
            except Misbehaved as error:
                raise Misbehaved(f"the opponent {self.name} failed: {error}") from error
            actions[k] = self.index[move]
        return actions
