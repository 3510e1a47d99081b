"""What is to be played, in what portions, from which seeds. Nothing depends on who plays it when.

>>> from duels.arena.played import Setting, Tournament
>>> cup = Tournament(("perfect", "random"), (Setting("digit-duel"),), pairs=12, seed=1)
>>> [(portion.start, portion.stop) for portion in portions(cup)]
[(0, 5), (5, 10), (10, 12)]
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from hashlib import sha256
from typing import NamedTuple

from duels.arena.entrants import entrants, plays
from duels.arena.played import Place, Setting, Tournament
from duels.core.chance import stream
from duels.core.errors import OptionError, UnknownName, quote
from duels.core.game import AnyGame
from duels.core.show import listed
from duels.envs.kernels import Chooser, NoKernel, have_numba
from duels.games import load
from duels.players import HUMAN, OPPONENT, named, outside
from duels.solve import solve

MANY, FEW = 1000, 5  # pairs in a portion: of compiled games, and of others
WATCHED = MANY  # the first pairs of a pairing, whose luck and regrets are worked out
MOST_PAIRS = 10_000_000


class Portion(NamedTuple):
    """Some pairs of one pairing in one game: what is played, kept and counted together."""

    game: int
    pairing: int
    start: int  # the first pair
    stop: int  # after the last
    compiled: bool

    @property
    def games(self) -> int:
        return 2 * (self.stop - self.start)


def portions(
    cup: Tournament, kept: Collection[Portion] = (), pairs: int | None = None
) -> Iterator[Portion]:
    """What is left to play, game by game; all pairings of a game go on at the same pace.

    `kept` has been played; `pairs` is how many pairs to play where that is not all of them. A
    portion that was cut short by a smaller number of pairs is completed by another one.
    """
    wanted = cup.pairs if pairs is None else pairs
    stops: dict[tuple[int, int, int], int] = {}  # by game, pairing and block: played up to here
    for portion in kept:
        block = portion.start // (MANY if portion.compiled else FEW)
        key = portion.game, portion.pairing, block
        stops[key] = max(portion.stop, stops.get(key, 0))
    for game in range(len(cup.games)):
        sizes = {
            pairing: MANY if compiled(cup, game, pairing) else FEW
            for pairing in range(len(cup.pairings))
            if cup.meets(game, pairing)
        }
        for start in range(0, wanted, MANY):
            for pairing, size in sizes.items():
                end = min(start + MANY, wanted)
                for at in range(start, end, size):
                    begin = max(at, stops.get((game, pairing, at // size), 0))
                    stop = min(at + size, end)
                    if begin < stop:
                        yield Portion(game, pairing, begin, stop, size == MANY)


@lru_cache(maxsize=64)
def game_of(setting: Setting) -> AnyGame:
    """The rules of one of a tournament's games."""
    return load(setting.slug, **dict(setting.options))


def setting_of(game: AnyGame) -> Setting:
    """A game as a tournament names it: its slug and what is not as usual, who starts included."""
    first = {"first": game.settings()["first"]} if game.first else {}
    return Setting(game.slug, tuple(sorted((game.differing() | first).items())))


def compiled(cup: Tournament, game: int, pairing: int) -> bool:
    """Whether a pairing is played in compiled code: both are built in and the kernel knows them."""
    players = cup.pairings[pairing]
    return (
        cup.compiled
        and cup.time_limit is None
        and all(has_chooser(cup.games[game], cup.players[index]) for index in players)
    )


@cache
def has_chooser(setting: Setting, name: str) -> bool:
    """Whether there is such a player in compiled code."""
    return chooser_of(setting, name) is not None


@lru_cache(maxsize=16)
def chooser_of(setting: Setting, name: str) -> Chooser | None:
    """A player in compiled code, with what it has worked out so far; None if there is none."""
    from duels.envs.opponents import able, chooser

    game = game_of(setting)
    try:
        known = named(name).kind == OPPONENT and name in able(game)
        return chooser(game, name) if known else None
    except NoKernel:
        return None


def encounter_seed(cup: Tournament, game: int, pairing: int) -> int:
    """What all randomness of a pairing in a game comes from: the seed, the rules, the names."""
    setting, (one, two) = cup.games[game], cup.pairings[pairing]
    named = [cup.seed, *setting, cup.players[one], cup.players[two]]
    return int.from_bytes(sha256(f"duels arena {named!r}".encode()).digest()[:16], "big")


def pair_seed(encounter: int, pair: int) -> int:
    """The seed of both matches of a pair of built-in players."""
    return int.from_bytes(sha256(f"duels arena {encounter} {pair}".encode()).digest()[:16], "big")


def from_outside(name: str) -> bool:
    """Whether a player is code from outside this package."""
    return outside(name) is not None and not name.startswith("duels.")


def game_seed(cup: Tournament, place: Place) -> int:
    """The seed of a match. Both games of a pair have the same one between built-in players.

    A player from outside may remember the first game of a pair, so the second has other chance.
    """
    encounter = encounter_seed(cup, place.game, place.pairing)
    strangers = any(from_outside(cup.players[index]) for index in cup.pairings[place.pairing])
    if not (strangers and place.seat):
        return pair_seed(encounter, place.pair)
    text = f"duels arena {encounter} {place.pair} second"
    return int.from_bytes(sha256(text.encode()).digest()[:16], "big")


def player_stream(cup: Tournament, place: Place, seat: int) -> str:
    """The random stream of the player in a seat of a match.

    A player from outside reads its stream, so it gets one that no other player of the tournament
    has and that, with a secret seed, does not depend on the seed.
    """
    pairing = cup.pairings[place.pairing]
    name = cup.players[pairing[seat ^ place.seat]]
    if not from_outside(name):
        return stream(game_seed(cup, place), seat)
    key = cup.seed if cup.key is None else cup.key
    names = [cup.players[index] for index in pairing]
    about = [key, *cup.games[place.game], *names, name, place.pair, place.seat]
    return sha256(f"duels arena player {about!r}".encode()).hexdigest()


def checked(cup: Tournament) -> Tournament:
    """A tournament that can be played, or a refusal: names in full, every game solved that has to
    be. Slow only where something has to be solved."""
    players = tuple(_name(text) for text in cup.players)
    if len(players) < 2:
        raise OptionError("a tournament takes two players or more")
    for name in players:
        if players.count(name) > 1:
            raise OptionError(f"{name} is given twice; each player plays once")
    if not cup.games:
        raise OptionError("a tournament takes a game or more")
    if len(set(cup.games)) < len(cup.games):
        raise OptionError("each game is played once; one is given twice")
    if not 1 <= cup.pairs <= MOST_PAIRS:
        raise OptionError(f"pairs: expected 1 to {MOST_PAIRS:,}; got {quote(cup.pairs)}")
    for setting in cup.games:
        game_of(setting)  # or it says what is wrong with its options
    found = entrants(players)
    cup = cup._replace(players=players, plays=plays(found, [game.slug for game in cup.games]))
    if not cup.meetings:
        raise OptionError("no two of the players that meet play the same game; see --games")
    for game, pairing in cup.meetings:
        if any(found[players[index]].needs_solution for index in cup.pairings[pairing]):
            solve(game_of(cup.games[game]))  # or it says why not
    return cup._replace(compiled=cup.compiled and have_numba())


def _name(text: str) -> str:
    kind, name = named(text)
    if kind == HUMAN:
        raise UnknownName("a human cannot play in a tournament; play with 'duels play'")
    return name


def describe(cup: Tournament) -> str:
    """In a line: what is played."""
    games = len(cup.meetings) * cup.pairs * 2
    slugs = listed(setting.slug for setting in cup.games)
    return f"{len(cup.players)} players, {slugs}: {games:,} games"
