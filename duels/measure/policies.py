"""Policies that can be measured: anything with a known probability of each move.

- A function from observations and masks to probabilities, a row for each position. `env.policy(f)`
  declares which observations it takes; a plain function gets those of `Game.encode` unchanged. It
  is called for very many positions at a time, with the seat if it has a parameter `seat`.
- A player by its name, as `duels.players.make_player` takes it, or as an object.
- Any other object with `choose(view)` and `mixed_strategy(view)`, the probability of each move.
  A deterministic player may have `pure = True` instead.
- A pair of these, `(first, second)`: the policy of each seat.

Players that return only a move are refused: one move does not reveal their probabilities. So are
policies that answer differently when they are queried again (`QueriedPolicy.confirm`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from duels.core.errors import DuelsError, quote
from duels.core.game import AnyGame, Move
from duels.core.player import MixedStrategy, Player, View, answer
from duels.core.presentation import player_name
from duels.envs.policy import EnvPolicy

Arrays = Any
ArrayPolicy = Callable[..., Arrays]
Policy = str | Player | ArrayPolicy | EnvPolicy | tuple[Any, Any] | Any

ROUNDING = 1e-3  # allowed error of a sum of probabilities, as of a network's 32-bit floats
NEGLIGIBLE = 1e-6  # probability of an illegal move that is ignored
# Allowed difference between two answers for one position: a network with 32-bit floats gives
# slightly different numbers in batches of different sizes.
SAME = 1e-4
CHECKED = 32_768  # the first answers, all of which are checked; after them, one in STEP is
STEP = 61


class NotMeasurable(DuelsError, ValueError):
    """A policy that cannot be measured; the message gives the reason."""


class NoMixedStrategy(NotMeasurable):
    """A player that returns moves but not their probabilities, in some or in all positions."""


class Inconsistent(NotMeasurable):
    """A policy that answers differently when it is queried again about the same position."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the policy is not consistent: {what}. Measure a network in evaluation mode (no "
            "dropout, no batch statistics); a player must always state the same mixed strategy"
        )


class QueriedPolicy:
    """A policy that is queried about many positions of a game at once."""

    array: ArrayPolicy | None = None
    player: Player | None = None
    made: EnvPolicy | None = None  # the environment's policy; None: raw observations

    def __init__(self, game: AnyGame, policy: Policy) -> None:
        self.game = game
        self.pure = False
        self._count = 0  # number of answers so far
        # Answers to check: views with mixed strategies, or a seat with observations, masks and rows
        # of probabilities. None after `confirm`.
        self._to_check: list[Any] | None = []
        given: Any = policy
        if isinstance(policy, str):
            from duels.players import make_player

            given = make_player(policy, stream="")  # only its probabilities are used
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
        method = getattr(kind, "mixed_strategy", None)
        self.pure = bool(getattr(player, "pure", False))
        if not self.pure and (method is None or method is Player.mixed_strategy):
            raise NoMixedStrategy(
                f"{kind.__name__} picks moves and does not state how likely each is: give it "
                "mixed_strategy(view), or pure = True if it picks the same in the same position"
            )
        if getattr(player, "needs_history", False) and not self.game.private:
            raise NotMeasurable(
                f"{kind.__name__} chooses by the history; only players that choose by the position "
                "can be measured"
            )

    # Observations of array policies

    def observations(self) -> dict[str, bool] | None:
        """Which observations an array policy gets, as plain data; None for a player.

        `declared`: they are those of `env.policy`. A plain function gets raw ones.
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
        """The observation of a view for an array policy, before normalisation."""
        assert view.player is not None
        seen = self.game.encode(view.observation, view.player)
        return seen + self.past(view)

    def past(self, view: View) -> tuple[Any, ...]:
        """What a policy may use besides the current observation: the history, or its memory."""
        if self.array is None:
            return view.history
        if self.made is None or not self.made.memory:
            return ()
        assert view.player is not None
        return self.game.recall(view.history, view.player)

    # Queries

    def strategies(self, views: Sequence[View]) -> list[dict[Move, float]]:
        """The mixed strategy for every view, without moves of probability 0; all of one seat."""
        if self.array is None:
            found = [self._checked(view, self._probabilities(view)) for view in views]
            if self._to_check is not None:
                self._to_check += [(views[n], found[n]) for n in self._sample(len(views))]
            return found
        from duels.algorithms.compiled import np

        if np is None:
            from duels.core.errors import MissingExtra
            from duels.core.extras import install_command

            raise MissingExtra(f"policies over arrays need numpy: {install_command('solve')}")
        moves = self.game.moves()
        seen = [self.encoded(view) for view in views]
        masks = [[move in view.options for move in moves] for view in views]
        rows = self.probabilities(
            np.array(seen, np.int16), np.array(masks, np.bool_), views[0].player or 0
        )
        return [
            {move: float(p) for move, p in zip(moves, row, strict=True) if p > 0}
            for row in rows.tolist()
        ]

    def probabilities(self, observations: Arrays, masks: Arrays, seat: int) -> Arrays:
        """The answers of an array policy, checked and normalised."""
        found = self._checked_rows(observations, masks, seat)
        if self._to_check is not None and (some := self._sample(len(found))):
            self._to_check.append((seat, observations[some], masks[some], found[some]))
        return found

    def _probabilities(self, view: View) -> MixedStrategy:
        assert self.player is not None
        if self.pure:
            return {answer(self.player, view): 1.0}
        strategy = self.player.mixed_strategy(view)
        if strategy is None:
            raise NoMixedStrategy(
                f"{type(self.player).__name__} does not state its mixed strategy in every position"
            )
        return strategy

    def _checked(self, view: View, strategy: MixedStrategy) -> dict[Move, float]:
        total = sum(strategy.values())
        wrong = [
            move for move, p in strategy.items() if p < 0 or (p > 0 and move not in view.options)
        ]
        if wrong or not abs(total - 1) <= ROUNDING:
            raise NotMeasurable(
                "a mixed strategy's chances must add up to 1, all of them on legal moves; got "
                f"{dict(strategy)} where the options are {', '.join(view.options)}"
            )
        return {move: p / total for move, p in strategy.items() if p > 0}

    def _checked_rows(self, observations: Arrays, masks: Arrays, seat: int) -> Arrays:
        from duels.algorithms.compiled import np

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
                "a policy's probabilities must add up to 1, all of them on legal moves; got "
                f"{given[at].tolist()} for the observation {seen[at].tolist()} with the "
                f"mask {masks[at].astype(int).tolist()}"
            )
        return found / totals[:, None]

    # Consistency

    def _sample(self, count: int) -> list[int]:
        """The indices of further answers to check: all at first, then one in STEP."""
        begin, self._count = self._count, self._count + count
        whole = max(0, min(count, CHECKED - begin))
        return [*range(whole), *range(whole + -(begin + whole) % STEP, count, STEP)]

    def confirm(self) -> None:
        """Query a sample of the answers again and raise `Inconsistent` if any differs.

        Rows are queried in other batches than before, to detect policies whose answers depend on
        the rest of the batch.
        """
        answers, self._to_check = self._to_check or [], None
        if self.array is None:
            for view, before in answers:
                again = self._checked(view, self._probabilities(view))
                if any(abs(before.get(m, 0) - again.get(m, 0)) > SAME for m in before | again):
                    self._refuse(view.observation, view.player, before, again)
            return
        from duels.algorithms.compiled import np

        for seat in (0, 1):
            parts = [rows for of, *rows in answers if of == seat]
            if not parts:
                continue
            every = [np.concatenate(part) for part in zip(*parts, strict=True)]
            for half in (0, 1):
                self._confirm_rows(seat, *(part[half::2] for part in every))

    def _confirm_rows(self, seat: int, observations: Arrays, masks: Arrays, before: Arrays) -> None:
        for begin in range(0, len(before), CHECKED):
            some = slice(begin, begin + CHECKED)
            again = self._checked_rows(observations[some], masks[some], seat)
            differs = (abs(before[some] - again) > SAME).any(axis=1)
            if differs.any():
                at = int(differs.argmax())
                one, two = (
                    dict(zip(self.game.moves(), row.tolist(), strict=True))
                    for row in (before[begin + at], again[at])
                )
                self._refuse(observations[begin + at].tolist(), seat, one, two)

    def _refuse(
        self, seen: Any, seat: int | None, before: MixedStrategy, again: MixedStrategy
    ) -> None:
        one, two = (
            {move: round(p, 6) for move, p in strategy.items() if p > 0}
            for strategy in (before, again)
        )
        raise Inconsistent(
            f"asked twice about {seen} as {player_name(seat or 0)}, it answers {one} and then {two}"
        )


def by_seat(game: AnyGame, policy: Policy) -> tuple[QueriedPolicy, QueriedPolicy]:
    """The policy of each seat; a policy that is not a pair plays both."""
    if not isinstance(policy, tuple | list):
        return QueriedPolicy(game, policy), QueriedPolicy(game, policy)
    if len(policy) != 2:
        raise NotMeasurable(
            f"expected a pair of policies, (first, second); got {len(policy)}: {quote(policy)}"
        )
    return QueriedPolicy(game, policy[0]), QueriedPolicy(game, policy[1])


def _takes_seat(function: ArrayPolicy) -> bool:
    from inspect import signature

    try:
        return "seat" in signature(function).parameters
    except (TypeError, ValueError):  # a built-in function without a signature
        return False
