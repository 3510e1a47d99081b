"""Data model of a tournament and of the results of its games.

A tournament is a list of games (with their options), a list of players and a number of pairs. Two
players who meet are a pairing. In each game a pairing plays `pairs` pairs: two games that share
chance and the random streams of both seats, with the players in swapped seats.

>>> names = ("perfect", "greedy", "random")
>>> tournament = Tournament(names, (Setting("firewall-breach"),), pairs=2, seed=1)
>>> tournament.pairings
((0, 1), (0, 2), (1, 2))
>>> tournament._replace(gauntlet=True).pairings
((0, 1), (0, 2))
>>> game = GameResult(game=0, pairing=2, pair=1, seat=1, score=1.0, by="rules", choices=7)
>>> tournament.number(game), tournament.game_index(12)
(12, GameIndex(game=0, pairing=2, pair=1, seat=1))
>>> game.first_score              # `greedy` sat in seat 2, and seat 1 has won
0.0
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from duels.core.match import TURN_LIMIT

DISQUALIFIED = "disqualified"
MAX_FAILURES = 3


class Setting(NamedTuple):
    """A game with its non-default options, as text."""

    slug: str
    options: tuple[tuple[str, str], ...] = ()


class GameIndex(NamedTuple):
    """Identifies a game of a tournament; all numbers from 0."""

    game: int  # of Tournament.games
    pairing: int  # of Tournament.pairings
    pair: int
    seat: int  # where the first player of the pairing sits: 0, then 1 in the second game of a pair


class GameResult(NamedTuple):
    """The result of one game. Scores are those of seat 0, which is Player 1 in its record."""

    game: int
    pairing: int
    pair: int
    seat: int  # where the first player of the pairing sat
    score: float  # 1 won, 0.5 drawn, 0 lost
    by: str  # as Result.by: rules, forfeit, limit, time; or DISQUALIFIED, which is a forfeit too
    choices: int  # resolved choices; a sealed pair counts once
    adjusted: float | None = None  # luck-adjusted: unbiased, not within 0 to 1; None: unknown
    regret: tuple[float, float] | None = None  # by seat: total regret
    graded: tuple[int, int] | None = None  # by seat: graded choices
    loser: int | None = None  # the seat that lost by forfeit or time
    failed: tuple[tuple[int, str], ...] = ()  # the seats that forfeited or ran out of time, and why
    payoff: float | None = None  # what seat 0 was paid; None: it was not stored

    @property
    def first_score(self) -> float:
        """The score of the first player of the pairing."""
        return 1.0 - self.score if self.seat else self.score

    @property
    def first_adjusted(self) -> float | None:
        """The same for the luck-adjusted score."""
        if self.adjusted is None:
            return None
        return 1.0 - self.adjusted if self.seat else self.adjusted

    @property
    def first_payoff(self) -> float | None:
        """What the first player of the pairing was paid."""
        return self.payoff if self.payoff is None or not self.seat else -self.payoff


class Encounter(NamedTuple):
    """All counted games of one pairing in one game, by pair, then seat; only whole pairs."""

    game: int
    pairing: int
    results: Sequence[GameResult]

    def pair_scores(self) -> list[float]:
        """The first player's mean score in each pair: 0, 0.25, 0.5, 0.75 or 1."""
        scores = [game.first_score for game in self.results]
        return [(one + two) / 2 for one, two in zip(scores[::2], scores[1::2], strict=True)]


class Tournament(NamedTuple):
    """The configuration that determines the results of a tournament."""

    players: tuple[str, ...]  # names, each once; where none is given, the player's text
    games: tuple[Setting, ...]
    pairs: int  # of each pairing in each game, at most: an SPRT may end earlier
    seed: int  # of chance and of the built-in players
    gauntlet: bool = False  # the first player meets all others, who do not meet each other
    sprt: tuple[float, float] | None = None  # the Elo differences of both hypotheses
    turn_limit: int = TURN_LIMIT
    time_limit: float | None = None  # seconds for a choice
    compiled: bool = False  # pairings of built-in players are compiled where possible
    max_failures: int = MAX_FAILURES  # consecutive failures before a player is disqualified
    plays: tuple[tuple[str, tuple[str, ...]], ...] = ()  # the games of players that do not play all
    # With a secret seed: the key of the random streams of external players. None: the seed is
    # public, and these streams are derived from it too.
    key: int | None = None
    programs: tuple[str, ...] = ()  # a digest of each player's program; empty if not taken
    commands: tuple[tuple[str, str], ...] = ()  # the texts of players with names of their own

    def text_of(self, name: str) -> str:
        """The text that names a player (`duels.players.parse_spec`)."""
        return dict(self.commands).get(name, name)

    @property
    def engine(self) -> str:
        """The engine; results are reproducible with the same engine only."""
        return "compiled" if self.compiled else "python"

    def described(self) -> str:
        """The seed and the engine, for reports."""
        seed = f"seed {self.seed}" if self.key is None else "a secret seed"
        return f"{seed}, engine {self.engine}"

    @property
    def pairings(self) -> tuple[tuple[int, int], ...]:
        """The pairs of players that meet, as indices."""
        count = len(self.players)
        rows = range(1 if self.gauntlet else count)
        return tuple((one, two) for one in rows for two in range(one + 1, count))

    def meets(self, game: int, pairing: int) -> bool:
        """Whether both players of a pairing play a game."""
        slug, known = self.games[game].slug, dict(self.plays)
        names = (self.players[index] for index in self.pairings[pairing])
        return all(slug in known.get(name, (slug,)) for name in names)

    @property
    def meetings(self) -> tuple[tuple[int, int], ...]:
        """Each game and pairing that is played."""
        every = ((game, n) for game in range(len(self.games)) for n in range(len(self.pairings)))
        return tuple(one for one in every if self.meets(*one))

    def number(self, at: GameIndex | GameResult) -> int:
        """The number of a game, from 1, by which its record is requested."""
        encounters = len(self.pairings) * len(self.games)
        within = at.game * len(self.pairings) + at.pairing
        return (at.pair * encounters + within) * 2 + at.seat + 1

    def game_index(self, number: int) -> GameIndex:
        """The index of the game with a number."""
        rest, seat = divmod(number - 1, 2)
        pair, within = divmod(rest, len(self.pairings) * len(self.games))
        game, pairing = divmod(within, len(self.pairings))
        return GameIndex(game, pairing, pair, seat)

    def to_json(self) -> dict[str, Any]:
        """The public configuration as JSON values; a secret seed is null."""
        games = [{"slug": slug, "options": dict(options)} for slug, options in self.games]
        plays = [[name, list(slugs)] for name, slugs in self.plays]
        data = self._asdict() | {"players": list(self.players), "games": games, "plays": plays}
        data["commands"] = dict(self.commands)
        del data["compiled"], data["key"]
        seed = self.seed if self.key is None else None
        programs = dict(zip(self.players, self.programs, strict=False))
        return data | {"seed": seed, "engine": self.engine, "programs": programs}

    def to_stored(self) -> dict[str, Any]:
        """The whole configuration as JSON values, for the archive."""
        return self.to_json() | {"seed": self.seed, "key": self.key}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Tournament":
        """From the result of `to_json` or `to_stored`, in this version or in version 1."""
        data = {"key": None, "programs": {}, **data}
        games = tuple(Setting(g["slug"], tuple(g["options"].items())) for g in data["games"])
        sprt = None if data["sprt"] is None else (data["sprt"][0], data["sprt"][1])
        players, programs = tuple(data["players"]), data["programs"]
        return cls(
            players, games, data["pairs"], data["seed"], data["gauntlet"], sprt,
            data["turn_limit"], data["time_limit"],
            data["engine"] == "compiled" if "engine" in data else data["compiled"],
            data.get("max_failures", MAX_FAILURES),
            tuple((name, tuple(slugs)) for name, slugs in data.get("plays", ())),
            data["key"], tuple(programs[name] for name in players) if programs else (),
            tuple(data.get("commands", {}).items()),
        )  # fmt: skip
