"""A player that does not say its mix: what somebody is shown to gain against it, with an interval.

Its choices are sampled, a few at every position, and a best response to what came up is computed.
What that response would score against the sample says too much: it was chosen for the very luck of
that sample. So it is played in fresh games against the player itself. Its mean score there is an
unbiased figure for what one opponent gains, and nobody who knows more gains less: a lower bound of
the exploitability, with the interval of the mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any

from duels.core.chance import stream
from duels.core.errors import Misbehaved
from duels.core.game import AnyGame, Move
from duels.core.match import TURN_LIMIT, Match
from duels.core.player import Player, View
from duels.games import game_of
from duels.measure.hidden import Tree
from duels.measure.policies import Asked
from duels.measure.response import OpenResponse
from duels.measure.result import SAMPLED, Exploitability, Seat
from duels.measure.walking import walk
from duels.players.hosting import Host, choice
from duels.players.optimal import Perfect
from duels.solve.estimate import Estimate
from duels.solve.solution import Progress, Unsolved

GAMES = 1000  # fresh ones behind each figure
ASKS = (1, 4, 16)  # at a position; fewer where the positions would be too many
MOST = 20_000  # positions to ask about, in each seat


class TooMany(Exception):
    """More positions than can be asked about."""


class Sample(Player):
    """A player's choices at each position it was asked about, as a mix."""

    def __init__(
        self, player: Player, asks: int, known: dict[Any, list[Move]], tell: Progress, seed: int = 1
    ) -> None:
        self.player, self.asks, self.known, self._tell = player, asks, known, tell
        self.seed = seed
        self.positions: set[Any] = set()

    def mix(self, view: View) -> Mapping[Move, float]:
        if len(view.options) == 1:
            return {view.options[0]: 1.0}
        key = view.player, view.observation, view.history
        self.positions.add(key)
        self._tell(len(self.positions) / MOST, "asking about positions")
        if len(self.positions) > MOST:
            raise TooMany
        picks = self.known.setdefault(key, [])
        while len(picks) < self.asks:
            # Like any other stream: a player must not know from it that it is being sampled.
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
    """What a response that was fitted to samples gains in fresh games; never more than anybody can.

    All chance of these games follows from `seed`: give a secret one for a player that is not
    trusted. What is wrong with the player is raised as `Misbehaved`.
    """
    game = game_of(game)
    tell = progress or (lambda part, what: None)
    limit = TURN_LIMIT if turn_limit is None else turn_limit
    open_game = not game.private

    def play(pair: tuple[Player, Player], which: int, what: str) -> float:
        return _score(game, pair, games, (seed << 8) + which, limit, tell, what)

    fitted = [_fitted(game, player, seat, turn_limit, seed << 8, tell) for seat in (0, 1)]
    if open_game:
        from duels.solve import solve

        start = float(solve(game, progress).start_value())
    else:
        start = play((player, player), 0, "games against itself")
    seats, asked = [], []
    for seat, (response, sample) in enumerate(fitted):
        asked.append((sample.asks, len(sample.positions)))
        against: list[float | None] = [None, None]
        others = [(response, "its best response"), (Perfect(""), "perfect play")]
        for number, (other, name) in enumerate(others[: 1 + open_game]):
            pair = (player, other) if seat == 0 else (other, player)
            scored = play(pair, 1 + 2 * seat + number, f"games against {name}")
            against[number] = scored if seat == 0 else 1 - scored
        best, perfect = against
        assert best is not None
        seats.append(Seat(game, seat, start if seat == 0 else 1 - start, perfect, best))
    told = [f"{asks} times at each of {count:,} positions" for asks, count in asked]
    note = (
        f"It does not say its mix, so its choices were sampled, {told[0]} in the first seat and "
        f"{told[1]} in the second; the responses to that were scored in {games:,} fresh games each."
    )
    return Exploitability(game, (seats[0], seats[1]), SAMPLED, note=note)


def _fitted(
    game: AnyGame, player: Player, seat: int, turn_limit: int | None, seed: int, tell: Progress
) -> tuple[Player, Sample]:
    """A best response to what a player was seen to choose."""
    known: dict[Any, list[Move]] = {}
    fitted: tuple[Player, Sample] | None = None
    for asks in ASKS:  # the fewest first: a game that is too large is refused soon
        sample = Sample(player, asks, known, tell, seed + 128 + seat)
        asked = Asked(game, sample)
        try:
            if game.private:
                fitted = Tree(game, seat, asked, turn_limit=turn_limit).response(), sample
            else:
                fitted = OpenResponse(game, 1 - seat, walk(game, seat, asked)), sample
        except (TooMany, Unsolved) as error:
            if isinstance(error, Unsolved) and fitted is None:
                raise
            break
    if fitted is not None:
        return fitted
    raise Unsolved(
        f"more than {MOST:,} positions of {game.slug} can be reached, too many to ask about one by "
        "one; a smaller variant can be sampled, and a player that answers with mixes measured"
    )


def _score(
    game: AnyGame, players: tuple[Player, Player], games: int, seed: int, turn_limit: int,
    tell: Progress, what: str,
) -> Estimate:  # fmt: skip
    """Player 1's mean score in so many games, with its standard error."""
    total = squares = 0.0
    for number in range(games):
        tell(number / games, what)
        begun = (seed << 32) + number
        match = Match(game, begun, turn_limit=turn_limit)
        for seat, player in enumerate(players):
            player.stream = stream(begun, seat)
        Host(match, dict(enumerate(players))).finish()
        assert match.result is not None
        if match.result.by == "forfeit":
            raise Misbehaved(match.result.reason)
        points = {0: 1.0, 1: 0.0, None: 0.5}[match.result.winner]
        total, squares = total + points, squares + points * points
    # Smoothed by a win and a loss, so that none or all of them are no certainty.
    mean, count = total / games, games + 2
    spread = (squares + 1) / count - ((total + 1) / count) ** 2
    return Estimate(mean, sqrt(spread / count))
