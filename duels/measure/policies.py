"""What can be measured: anything that says how likely it is to choose each move.

- A function from observations and masks to probabilities, a row for each position. `env.policy(f)`
  says which observations it takes; a bare function gets those of `Game.encode` as they are. It is
  called for very many positions at a time, and told the seat if it has a parameter `seat`.
- A player by its name, as `duels.players.player` takes it, or as an object.
- Any other object with `choose(view)` that says its mix: `mix(view)` gives the chance of each move.
  One that always chooses the same move in the same position may say `pure = True` instead.
- A pair of these, `(first, second)`: the policy of each seat.

A player that only picks is refused: what others can do against a mix does not follow from one pick.
So is a policy that answers differently when it is asked again (`Asked.confirm`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from duels.core.errors import DuelsError, quote
from duels.core.game import AnyGame, Decide, Move
from duels.core.player import Player, View, answer
from duels.core.show import player_name
from duels.envs.policy import EnvPolicy

Arrays = Any
ArrayPolicy = Callable[..., Arrays]
Policy = str | Player | ArrayPolicy | EnvPolicy | tuple[Any, Any] | Any
Mix = Mapping[Move, float]

ROUNDING = 1e-3  # that chances may miss a sum of 1 by, as those of a network's 32 bits do
NEGLIGIBLE = 1e-6  # on moves that are not legal: left out
# Two answers for one position may differ by this. A network's 32 bits give slightly different
# numbers in batches of different sizes.
SAME = 1e-4
KEPT = 32_768  # answers that are all asked for again; of those that follow, one in STEP
STEP = 61


class NotMeasurable(DuelsError, ValueError):
    """A policy that does not say what must be known to measure it; the message says what."""


class NoMix(NotMeasurable):
    """A player that picks and does not say how likely each move is, here or anywhere."""


class Inconsistent(NotMeasurable):
    """A policy that answers differently when it is asked again about the same position."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the policy is not consistent: {what}. Measure a network in evaluation mode (no "
            "dropout, no batch statistics); a player states the mix it draws from, always the same"
        )


class Asked:
    """A policy, asked about many positions of a game at once."""

    array: ArrayPolicy | None = None
    player: Player | None = None
    made: EnvPolicy | None = None  # which observations the array policy takes; None: as they are

    def __init__(self, game: AnyGame, policy: Policy) -> None:
        self.game = game
        self.pure = False
        self._count = 0  # answers so far
        # Answers to ask for again: views with mixes, or a seat with observations, masks and rows of
        # chances. None when that is done.
        self._kept: list[Any] | None = []
        given: Any = policy
        if isinstance(policy, str):
            from duels.players import player

            given = player(policy, stream="")  # only its mix is asked for
        if isinstance(given, EnvPolicy):
            if given.game != game:
                raise NotMeasurable(
                    f"the policy is for the observations of {given.game!r} and is measured in "
                    f"{game!r}: make the environment with the same options"
                )
            self.made, self.array = given, given.function
        elif hasattr(given, "choose"):
            self.player = given
            self._check_player(given)
        elif callable(given):
            self.array = given
        else:
            raise NotMeasurable(
                "a policy is a function of observations and masks, a player's name or a player, or "
                f"a pair of them by seat; got {quote(policy)}"
            )
        self._tell_seat = self.array is not None and _takes_seat(self.array)

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

    # Which observations an array policy is asked about

    def observations(self) -> dict[str, bool] | None:
        """The observations of an array policy, as plain data; None of a player.

        `declared`: `env.policy` said what they are. A bare function gets raw ones.
        """
        if self.array is None:
            return None
        made = self.made
        return {
            "declared": made is not None,
            "normalize": made is not None and made.normalize,
            "memory": made is not None and made.memory,
        }

    def encoded(self, view: View) -> tuple[int, ...]:
        """What an array policy is shown of a view, before it is normalised."""
        assert view.player is not None
        seen = self.game.encode(view.observation, view.player)
        return seen + self.past(view)

    def past(self, view: View) -> tuple[Any, ...]:
        """What a policy may go by besides what it sees now: the history, or what it recalls."""
        if self.array is None:
            return view.history
        if self.made is None or not self.made.memory:
            return ()
        assert view.player is not None
        return self.game.recall(view.history, view.player)

    # Asking

    def mixes(self, views: Sequence[View]) -> list[dict[Move, float]]:
        """The chance of each move that has one, for every view; all are of the same seat."""
        if self.array is None:
            found = [self._checked(view, self._said(view)) for view in views]
            if self._kept is not None:
                self._kept += [(views[n], found[n]) for n in self._sample(len(views))]
            return found
        from duels.solve.compiled import np

        if np is None:
            from duels.core.errors import MissingExtra

            raise MissingExtra("policies over arrays need numpy: pip install 'duels[solve]'")
        moves = self.game.moves()
        seen = [self.encoded(view) for view in views]
        masks = [[move in view.options for move in moves] for view in views]
        rows = self.rows(np.array(seen, np.int16), np.array(masks, np.bool_), views[0].player or 0)
        return [
            {move: float(p) for move, p in zip(moves, row, strict=True) if p > 0}
            for row in rows.tolist()
        ]

    def rows(self, observations: Arrays, masks: Arrays, seat: int) -> Arrays:
        """What a function of arrays answers, checked and adding up to 1 to the last bit."""
        found = self._rows(observations, masks, seat)
        if self._kept is not None and (some := self._sample(len(found))):
            self._kept.append((seat, observations[some], masks[some], found[some]))
        return found

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

    def _rows(self, observations: Arrays, masks: Arrays, seat: int) -> Arrays:
        from duels.solve.compiled import np

        assert self.array is not None
        seen = observations if self.made is None else self.made.observations(observations)
        told = {"seat": seat} if self._tell_seat else {}
        given = np.asarray(self.array(seen, masks, **told))
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
                f"{given[at].tolist()} for the observation {seen[at].tolist()} with the "
                f"mask {masks[at].astype(int).tolist()}"
            )
        return found / totals[:, None]

    # Asking again

    def _sample(self, count: int) -> list[int]:
        """Which of so many further answers are asked for again: all at first, then one in STEP."""
        begin, self._count = self._count, self._count + count
        whole = max(0, min(count, KEPT - begin))
        return [*range(whole), *range(whole + -(begin + whole) % STEP, count, STEP)]

    def confirm(self) -> None:
        """Ask again for a sample of the answers so far, and raise `Inconsistent` if any differs.

        Rows are asked for in other batches than before, so that a policy whose answers depend on
        the rest of a batch is noticed as well.
        """
        kept, self._kept = self._kept or [], None
        if self.array is None:
            for view, before in kept:
                again = self._checked(view, self._said(view))
                if any(abs(before.get(m, 0) - again.get(m, 0)) > SAME for m in before | again):
                    self._refuse(view.observation, view.player, before, again)
            return
        from duels.solve.compiled import np

        for seat in (0, 1):
            parts = [rows for of, *rows in kept if of == seat]
            if not parts:
                continue
            every = [np.concatenate(part) for part in zip(*parts, strict=True)]
            for half in (0, 1):
                self._confirm_rows(seat, *(part[half::2] for part in every))

    def _confirm_rows(self, seat: int, observations: Arrays, masks: Arrays, before: Arrays) -> None:
        for begin in range(0, len(before), KEPT):
            some = slice(begin, begin + KEPT)
            again = self._rows(observations[some], masks[some], seat)
            differs = (abs(before[some] - again) > SAME).any(axis=1)
            if differs.any():
                at = int(differs.argmax())
                one, two = (
                    dict(zip(self.game.moves(), row.tolist(), strict=True))
                    for row in (before[begin + at], again[at])
                )
                self._refuse(observations[begin + at].tolist(), seat, one, two)

    def _refuse(self, seen: Any, seat: int | None, before: Mix, again: Mix) -> None:
        one, two = (
            {move: round(p, 6) for move, p in mix.items() if p > 0} for mix in (before, again)
        )
        raise Inconsistent(
            f"asked twice about {seen} as {player_name(seat or 0)}, it answers {one} and then {two}"
        )


def by_seat(game: AnyGame, policy: Policy) -> tuple[Asked, Asked]:
    """The policy of each seat; one that is no pair has both."""
    if not isinstance(policy, tuple | list):
        return Asked(game, policy), Asked(game, policy)
    if len(policy) != 2:
        raise NotMeasurable(
            f"policies by seat are two, (first, second); got {len(policy)}: {quote(policy)}"
        )
    return Asked(game, policy[0]), Asked(game, policy[1])


def _takes_seat(function: ArrayPolicy) -> bool:
    from inspect import signature

    try:
        return "seat" in signature(function).parameters
    except (TypeError, ValueError):  # a built-in function that does not say
        return False


def view_of(game: AnyGame, state: Any, player: int) -> View:
    """What a player sees of a state in which that player chooses; in an open game that is all."""
    turn = game.turn(state)
    assert isinstance(turn, Decide)
    return View(game, player, game.observe(state, player), (), turn.options[player])
