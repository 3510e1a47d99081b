"""Sampled lower bound of the exploitability of a player without known probabilities.

The player's choices are sampled, a few times at every position, and a best response to the sampled
frequencies is computed. Its value against the sample is biased, since it was fitted to the sample's
noise. So it plays new games against the player itself. Its mean score there is an unbiased estimate
of what one opponent gains, and so a lower bound of the exploitability, with an interval.
"""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any

from duels.algorithms.estimate import Estimate
from duels.algorithms.solution import Progress, Unsolved
from duels.core.chance import stream
from duels.core.errors import Misbehaved
from duels.core.game import AnyGame, Move
from duels.core.match import TURN_LIMIT, Match
from duels.core.payoffs import unit_of
from duels.core.player import MixedStrategy, Player, View
from duels.games import game_of
from duels.measure.dispatch import enumerate_positions
from duels.measure.hidden_information import ResponseTree
from duels.measure.policies import QueriedPolicy
from duels.measure.response import OpenResponse
from duels.measure.result import SAMPLED, Exploitability, SeatResult
from duels.players.optimal import Perfect
from duels.players.runner import MatchRunner, choice

GAMES = 1000  # new games for each figure
ASKS = (1, 4, 16)  # samples at a position; fewer if there would be too many positions
MOST = 20_000  # positions to sample in each seat, at most


class TooManyPositions(Exception):
    """More positions than can be sampled."""


class SampledPlayer(Player):
    """A player whose mixed strategy is the sampled frequencies of another player's choices."""

    def __init__(
        self, player: Player, asks: int, known: dict[Any, list[Move]], tell: Progress, seed: int = 1
    ) -> None:
        self.player, self.asks, self.known, self._tell = player, asks, known, tell
        self.seed = seed
        self.positions: set[Any] = set()

    def mixed_strategy(self, view: View) -> MixedStrategy:
        if len(view.options) == 1:
            return {view.options[0]: 1.0}
        key = view.player, view.observation, view.history
        self.positions.add(key)
        self._tell(len(self.positions) / MOST, "asking about positions")
        if len(self.positions) > MOST:
            raise TooManyPositions
        picks = self.known.setdefault(key, [])
        while len(picks) < self.asks:
            # Derived like any other stream, so that a player cannot detect that it is sampled.
            self.player.stream = stream((self.seed << 32) + len(self.known), len(picks))
            move = choice(self.player, view)
            if move not in view.options:
                raise Misbehaved(f"it chose {move!r}, which is not an option")
            picks.append(move)
        return {m: n / self.asks for m, n in Counter(picks[: self.asks]).items()}


def sampled_exploitability(
    game: str | AnyGame, player: Player, *, games: int = GAMES, turn_limit: int | None = None,
    seed: int = 1, progress: Progress | None = None,
) -> Exploitability:  # fmt: skip
    """The gain of a response that was fitted to samples, in new games: a lower bound.

    All chance events of these games follow from `seed`: pass a secret one for an untrusted player.
    Raises `Misbehaved` if the player fails.
    """
    game = game_of(game)
    tell = progress or (lambda part, what: None)
    limit = TURN_LIMIT if turn_limit is None else turn_limit
    open_game, total = not game.private, unit_of(game).total

    def play(pair: tuple[Player, Player], which: int, what: str) -> float:
        return _score(game, pair, games, (seed << 8) + which, limit, tell, what)

    fitted = [_fitted(game, player, seat, turn_limit, seed << 8, tell) for seat in (0, 1)]
    if open_game:
        from duels.algorithms import solve

        start = float(solve(game, progress).start_value())
    else:
        start = play((player, player), 0, "games against itself")
    seats, samples = [], []
    for seat, (response, sample) in enumerate(fitted):
        samples.append((sample.asks, len(sample.positions)))
        against: list[float | None] = [None, None]
        others = [(response, "its best response"), (Perfect(""), "perfect play")]
        for number, (other, name) in enumerate(others[: 1 + open_game]):
            pair = (player, other) if seat == 0 else (other, player)
            scored = play(pair, 1 + 2 * seat + number, f"games against {name}")
            against[number] = scored if seat == 0 else total - scored
        best, perfect = against
        assert best is not None
        seats.append(SeatResult(game, seat, start if seat == 0 else total - start, perfect, best))
    told = [f"{asks} times at each of {count:,} positions" for asks, count in samples]
    note = (
        f"It does not state its mixed strategy, so its choices were sampled: {told[0]} as "
        f"Player 1, and {told[1]} as Player 2. The best responses to these samples were scored in "
        f"{games:,} fresh games each."
    )
    return Exploitability(game, (seats[0], seats[1]), SAMPLED, note=note)


def _fitted(
    game: AnyGame, player: Player, seat: int, turn_limit: int | None, seed: int, tell: Progress
) -> tuple[Player, SampledPlayer]:
    """A best response to a sample of a player's choices."""
    known: dict[Any, list[Move]] = {}
    fitted: tuple[Player, SampledPlayer] | None = None
    for asks in ASKS:  # the fewest first, to refuse a game that is too large early
        sample = SampledPlayer(player, asks, known, tell, seed + 128 + seat)
        policy = QueriedPolicy(game, sample)
        try:
            if game.private:
                fitted = ResponseTree(game, seat, policy, turn_limit=turn_limit).response(), sample
            else:
                fitted = (
                    OpenResponse(game, 1 - seat, enumerate_positions(game, seat, policy)),
                    sample,
                )
        except (TooManyPositions, Unsolved) as error:
            if isinstance(error, Unsolved) and fitted is None:
                raise
            break
    if fitted is not None:
        return fitted
    raise Unsolved(
        f"more than {MOST:,} positions of {game.slug} can be reached, too many to ask about each; "
        "measure a smaller variant, or a player that states its mixed strategy"
    )


def _score(
    game: AnyGame, players: tuple[Player, Player], games: int, seed: int, turn_limit: int,
    tell: Progress, what: str,
) -> Estimate:  # fmt: skip
    """Player 1's mean score or payoff in the given number of games, with its standard error."""
    unit, total, squares = unit_of(game), 0.0, 0.0
    for number in range(games):
        tell(number / games, what)
        begun = (seed << 32) + number
        match = Match(game, begun, turn_limit=turn_limit)
        for seat, player in enumerate(players):
            player.stream = stream(begun, seat)
        MatchRunner(match, dict(enumerate(players))).finish()
        assert match.result is not None
        if match.result.by == "forfeit":
            raise Misbehaved(match.result.reason)
        points = float(unit.end(match.result))
        total, squares = total + points, squares + points * points
    # Smoothed by the best and the worst result, so that equal results do not give an error of 0.
    mean, count = total / games, games + 2
    high, low = float(unit.highest), float(unit.lowest)
    spread = (squares + high**2 + low**2) / count - ((total + high + low) / count) ** 2
    return Estimate(mean, sqrt(spread / count))
