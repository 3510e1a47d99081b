"""Standings of a tournament while it is played, for a screen.

>>> from duels.arena.model import GameResult, Setting, Tournament
>>> tournament = Tournament(("ann", "bob"), (Setting("firewall-breach"),), pairs=2, seed=1)
>>> live = LiveStandings(tournament)
>>> live.add([GameResult(0, 0, 0, seat, 1.0 - seat, "rules", 9) for seat in (0, 1)])
>>> live.lines()
['  ann   1.000   2-0-0', '  bob   0.000   0-0-2']
"""

from __future__ import annotations

from collections.abc import Iterable

from duels.arena.model import GameResult, Tournament
from duels.arena.report import HALF, counted, decided, shortened
from duels.arena.scheduler import SequentialTests
from duels.arena.summary import Tally, tally


class LiveStandings:
    """The games of every player so far: score, and games won, drawn and lost."""

    def __init__(self, tournament: Tournament) -> None:
        self.tournament = tournament
        self.tests: SequentialTests | None = None
        self._games = dict.fromkeys(tournament.players, Tally())

    def add(self, results: Iterable[GameResult], tests: SequentialTests | None = None) -> None:
        """Count finished games; `tests` are the sequential tests of the run."""
        self.tests = tests
        scores: dict[int, list[float]] = {}
        for game in results:
            scores.setdefault(game.pairing, []).append(game.first_score)
        for pairing, some in scores.items():
            one, two = (self.tournament.players[at] for at in self.tournament.pairings[pairing])
            found = tally(some)
            self._games[one] = self._games[one].plus(found)
            self._games[two] = self._games[two].plus(found.for_opponent())

    def lines(self) -> list[str]:
        """The players with games, the best first, then the sequential tests."""
        found = {name: games for name, games in self._games.items() if sum(games)}
        scores = {name: (g.wins + g.draws / 2) / sum(g) for name, g in found.items()}
        names = shortened(self.tournament.players)
        width = max(map(len, names.values()))
        lines = [
            f"  {names[name]:<{width}}   {scores[name]:.3f}   {counted(found[name])}"
            for name in sorted(found, key=lambda name: -scores[name])
        ]
        brief = shortened(self.tournament.players, HALF)
        for (game, pairing), test in self.tests.running() if self.tests is not None else ():
            one, two = (
                brief[self.tournament.players[at]] for at in self.tournament.pairings[pairing]
            )
            slug = self.tournament.games[game].slug
            lines.append(f"  SPRT {one} - {two}, {slug}: {decided(test)} (ends at {test.high:.2f})")
        return lines
