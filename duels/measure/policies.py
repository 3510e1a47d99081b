"""What can be measured: anything that says how likely it is to choose each move.

- A function from observations and masks to probabilities, a row for each position: the arrays of
  `Game.encode` and of the legal moves, as the environments give them. It is called for very many
  positions at a time.
- A player by its name, as `duels.players.player` takes it, or as an object.
- Any other object with `choose(view)` that says its mix: `mix(view)` gives the chance of each move.
  One that always chooses the same move in the same position may say `pure = True` instead.

Who only picks is refused: what others can do against a mix does not follow from one pick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duels.core.errors import DuelsError, quote
from duels.core.game import AnyGame, Decide, Move
from duels.core.player import Player, View, answer

Arrays = Any
ArrayPolicy = Callable[[Arrays, Arrays], Arrays]
Policy = str | Player | ArrayPolicy | Any
Mix = Mapping[Move, float]

ROUNDING = 1e-3  # that chances may miss a sum of 1 by, as those of a network's 32 bits do
NEGLIGIBLE = 1e-6  # on moves that are not legal: left out


class NotMeasurable(DuelsError, ValueError):
    """A policy that does not say what must be known to measure it; the message says what."""


class NoMix(NotMeasurable):
    """A player that picks and does not say how likely each move is, here or anywhere."""


class Asked:
    """A policy, asked about many positions of a game at once."""

    array: ArrayPolicy | None = None
    player: Player | None = None

    def __init__(self, game: AnyGame, policy: Policy) -> None:
        self.game = game
        self.pure = False
        given: Any = policy
        if isinstance(policy, str):
            from duels.players import player

            given = player(policy, stream="")  # only its mix is asked for
        if hasattr(given, "choose"):
            self.player = given
            self._check_player(given)
        elif callable(given):
            self.array = given
        else:
            raise NotMeasurable(
                "a policy is a function of observations and masks, a player's name or a player; "
                f"got {quote(policy)}"
            )

    def _check_player(self, player: Any) -> None:
        kind = type(player)
        says = getattr(kind, "mix", None)
        self.pure = bool(getattr(player, "pure", False))
        if not self.pure and (says is None or says is Player.mix):
            raise NoMix(
                f"{kind.__name__} picks moves and does not say how likely each is: give it "
                "mix(view), or pure = True if it always picks the same in the same position"
            )
        if getattr(player, "needs_history", False) and not self.game.private:
            raise NotMeasurable(f"{kind.__name__} chooses by the history, which is not measured")

    def mixes(self, views: Sequence[View]) -> list[dict[Move, float]]:
        """The chance of each move that has one, for every view."""
        if self.array is None:
            return [self._checked(view, self._said(view)) for view in views]
        from duels.solve.compiled import np

        if np is None:
            from duels.core.errors import MissingExtra

            raise MissingExtra("policies over arrays need numpy: pip install 'duels[solve]'")
        moves = self.game.moves()
        seen = [self.game.encode(view.observation, view.player or 0) for view in views]
        masks = [[move in view.options for move in moves] for view in views]
        found = self.rows(np.array(seen, np.int16), np.array(masks, np.bool_))
        return [
            {move: float(p) for move, p in zip(moves, row, strict=True) if p > 0}
            for row in found.tolist()
        ]

    def _said(self, view: View) -> Mix:
        assert self.player is not None
        if self.pure:
            return {answer(self.player, view): 1.0}
        mix = self.player.mix(view)
        if mix is None:
            raise NoMix(f"{type(self.player).__name__} does not say its mix everywhere")
        return mix

    def _checked(self, view: View, mix: Mix) -> dict[Move, float]:
        total = sum(mix.values())
        wrong = [move for move, p in mix.items() if p < 0 or (p > 0 and move not in view.options)]
        if wrong or not abs(total - 1) <= ROUNDING:
            raise NotMeasurable(
                f"a mix gives chances to legal moves that add up to 1; got {dict(mix)} where the "
                f"options are {', '.join(view.options)}"
            )
        return {move: p / total for move, p in mix.items() if p > 0}

    def rows(self, observations: Arrays, masks: Arrays) -> Arrays:
        """What a function of arrays answers, checked and adding up to 1 to the last bit."""
        from duels.solve.compiled import np

        assert self.array is not None
        given = np.asarray(self.array(observations, masks))
        if given.shape != masks.shape:
            raise NotMeasurable(
                f"a policy gives probabilities in the shape of the masks, {masks.shape}; "
                f"got {given.shape}"
            )
        found = given.astype(np.float64)
        off = np.where(masks, 0.0, found)
        found = np.where(masks, found, 0.0)
        totals = found.sum(axis=1)
        bad = ~(np.abs(totals - 1) <= ROUNDING) | (found < 0).any(axis=1)
        bad |= ~(np.abs(off) <= NEGLIGIBLE).all(axis=1)
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            raise NotMeasurable(
                "a policy's probabilities are those of legal moves and add up to 1; got "
                f"{given[at].tolist()} for the observation {observations[at].tolist()} with the "
                f"mask {masks[at].astype(int).tolist()}"
            )
        return found / totals[:, None]


def view_of(game: AnyGame, state: Any, player: int) -> View:
    """What a player sees of a state in which that player chooses; in an open game that is all."""
    turn = game.turn(state)
    assert isinstance(turn, Decide)
    return View(game, player, game.observe(state, player), (), turn.options[player])
