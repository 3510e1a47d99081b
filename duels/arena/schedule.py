"""Schedule of a tournament: its chunks, and the seeds of its games, which depend on nothing else.

>>> from duels.arena.model import Setting, Tournament
>>> tournament = Tournament(("perfect", "random"), (Setting("digit-duel"),), pairs=12, seed=1)
>>> [(chunk.start, chunk.stop) for chunk in chunks(tournament)]
[(0, 5), (5, 10), (10, 12)]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from duels.algorithms import solve
from duels.algorithms.solution import Progress
from duels.arena.entrants import entrants, plays
from duels.arena.model import GameIndex, Setting, Tournament
from duels.core.chance import stream
from duels.core.errors import OptionError, UnknownName, program, quote
from duels.core.game import AnyGame
from duels.core.presentation import listed
from duels.games import load
from duels.players import HUMAN, OPPONENT, PlayerSpec, bare, external_kind, parse_spec

if TYPE_CHECKING:
    from duels.kernels import CompiledPolicy

COMPILED_PAIRS, PYTHON_PAIRS = 1000, 5  # in a chunk, by engine
ADJUSTED_PAIRS = (
    COMPILED_PAIRS  # the first of a pairing, which get luck-adjusted scores and regrets
)
MOST_PAIRS = 10_000_000


class Chunk(NamedTuple):
    """Some pairs of one pairing in one game, which are played and stored together."""

    game: int
    pairing: int
    start: int  # the first pair
    stop: int  # after the last
    compiled: bool

    @property
    def games(self) -> int:
        return 2 * (self.stop - self.start)


def chunks(
    tournament: Tournament, stored: Collection[Chunk] = (), pairs: int | None = None
) -> Iterator[Chunk]:
    """The chunks that are left to play, game by game; pairings of a game advance together.

    `stored` has been played; `pairs` is the number of pairs to play if not all. A chunk that was
    cut short by a smaller number of pairs is completed by another one.
    """
    wanted = tournament.pairs if pairs is None else pairs
    stops: dict[
        tuple[int, int, int], int
    ] = {}  # by game, pairing and block: the first unplayed pair
    for chunk in stored:
        block = chunk.start // (COMPILED_PAIRS if chunk.compiled else PYTHON_PAIRS)
        key = chunk.game, chunk.pairing, block
        stops[key] = max(chunk.stop, stops.get(key, 0))
    for game in range(len(tournament.games)):
        sizes = {
            pairing: COMPILED_PAIRS if compiled(tournament, game, pairing) else PYTHON_PAIRS
            for pairing in range(len(tournament.pairings))
            if tournament.meets(game, pairing)
        }
        for start in range(0, wanted, COMPILED_PAIRS):
            for pairing, size in sizes.items():
                end = min(start + COMPILED_PAIRS, wanted)
                for at in range(start, end, size):
                    begin = max(at, stops.get((game, pairing, at // size), 0))
                    stop = min(at + size, end)
                    if begin < stop:
                        yield Chunk(game, pairing, begin, stop, size == COMPILED_PAIRS)


@lru_cache(maxsize=64)
def game_of(setting: Setting) -> AnyGame:
    """The rules of one of a tournament's games."""
    return load(setting.slug, **dict(setting.options))


def setting_of(game: AnyGame) -> Setting:
    """A game as a tournament names it: its slug and non-default options, `first` included."""
    first = {"first": game.settings()["first"]} if game.first else {}
    return Setting(game.slug, tuple(sorted((game.differing() | first).items())))


def compiled(tournament: Tournament, game: int, pairing: int) -> bool:
    """Whether a pairing is played in compiled code: the kernel has both players."""
    players = tournament.pairings[pairing]
    return (
        tournament.compiled
        and tournament.time_limit is None
        and all(has_chooser(tournament.games[game], opponent(tournament, i)) for i in players)
    )


def opponent(tournament: Tournament, index: int) -> str:
    """A player without a given name and limits: the name of a built-in one, or its program."""
    return bare(tournament.text_of(tournament.players[index]))


@cache
def has_chooser(setting: Setting, name: str) -> bool:
    """Whether a player exists in compiled code."""
    return chooser_of(setting, name) is not None


@lru_cache(maxsize=16)
def chooser_of(setting: Setting, name: str) -> CompiledPolicy | None:
    """A player in compiled code, with its cached tables; None if there is none."""
    from duels.envs.opponents import batch_opponents, chooser
    from duels.kernels import NoKernel

    game = game_of(setting)
    try:
        known = parse_spec(name).kind == OPPONENT and name in batch_opponents(game)
        return chooser(game, name) if known else None
    except NoKernel:
        return None


def prepare(setting: Setting, players: Iterable[str], progress: Progress | None) -> None:
    """Make the players of a game without a kernel of its own, which may take long."""
    from duels.envs.opponents import batch_opponents, chooser
    from duels.kernels import NoKernel, kernel_of, registered_kernel

    game = game_of(setting)
    kind: type = type(game)  # mypy mistakes type[Game] for something with the hash of a game
    if registered_kernel(kind) is not None:
        return
    with suppress(NoKernel):
        kernel_of(game, progress)
        for name in sorted(set(players).intersection(batch_opponents(game))):
            chooser(game, name, progress)


def encounter_seed(tournament: Tournament, game: int, pairing: int) -> int:
    """The seed of a pairing in a game, from the tournament's seed, the rules and the names."""
    setting, (one, two) = tournament.games[game], tournament.pairings[pairing]
    parts = [tournament.seed, *setting, tournament.players[one], tournament.players[two]]
    return int.from_bytes(sha256(f"duels arena {parts!r}".encode()).digest()[:16], "big")


def pair_seed(encounter: int, pair: int) -> int:
    """The seed of both matches of a pair of built-in players."""
    return int.from_bytes(sha256(f"duels arena {encounter} {pair}".encode()).digest()[:16], "big")


def is_external(tournament: Tournament, index: int) -> bool:
    """Whether a player is external: code that is not part of this package."""
    name = opponent(tournament, index)
    return external_kind(name) is not None and not name.startswith("duels.")


def game_seed(tournament: Tournament, game_index: GameIndex) -> int:
    """The seed of a match. Both games of a pair have the same one between built-in players.

    An external player may remember the first game of a pair, so the second has other chance events.
    """
    encounter = encounter_seed(tournament, game_index.game, game_index.pairing)
    external = any(
        is_external(tournament, index) for index in tournament.pairings[game_index.pairing]
    )
    if not (external and game_index.seat):
        return pair_seed(encounter, game_index.pair)
    text = f"duels arena {encounter} {game_index.pair} second"
    return int.from_bytes(sha256(text.encode()).digest()[:16], "big")


def player_stream(tournament: Tournament, game_index: GameIndex, seat: int) -> str:
    """The random stream of the player in a seat of a match.

    An external player can read its stream, so it gets one that no other player of the tournament
    has and that, with a secret seed, does not depend on the seed.
    """
    pairing = tournament.pairings[game_index.pairing]
    own = pairing[seat ^ game_index.seat]
    name = tournament.players[own]
    if not is_external(tournament, own):
        return stream(game_seed(tournament, game_index), seat)
    key = tournament.seed if tournament.key is None else tournament.key
    names = [tournament.players[index] for index in pairing]
    about = [
        key,
        *tournament.games[game_index.game],
        *names,
        name,
        game_index.pair,
        game_index.seat,
    ]
    return sha256(f"duels arena player {about!r}".encode()).hexdigest()


def checked(tournament: Tournament, progress: Progress | None = None) -> Tournament:
    """The tournament with the players' names, from their texts, after checks that it can be played.

    Solves the games in which a player needs the solution.
    """
    specs = [_computer_player(text) for text in tournament.players]
    players = tuple(spec.title for spec in specs)
    if len(players) < 2:
        raise OptionError(f"a tournament needs at least two players; got {len(players)}")
    for name in players:
        if players.count(name) > 1:
            raise OptionError(f"{name} is given twice; give each a name, as in NAME={bare(name)}")
    if not tournament.games:
        raise OptionError("a tournament needs at least one game")
    if len(set(tournament.games)) < len(tournament.games):
        raise OptionError("a game is listed twice; list each game once")
    if not 1 <= tournament.pairs <= MOST_PAIRS:
        raise OptionError(f"pairs: expected 1 to {MOST_PAIRS:,}; got {quote(tournament.pairs)}")
    for setting in tournament.games:
        game_of(setting)  # raises if its options are wrong
    found = entrants({spec.title: spec.text for spec in specs})
    tournament = tournament._replace(
        players=players, plays=plays(found, [game.slug for game in tournament.games]),
        commands=tuple((spec.label, spec.text) for spec in specs if spec.label),
    )  # fmt: skip
    if not tournament.meetings:
        raise OptionError(
            "no two of the players that meet play the same game; choose other --games"
        )
    for game, pairing in tournament.meetings:
        if any(found[players[index]].needs_solution for index in tournament.pairings[pairing]):
            solve(game_of(tournament.games[game]), progress)  # raises if it cannot be solved
    if tournament.compiled:
        from duels.kernels import have_numba

        tournament = tournament._replace(compiled=have_numba())
    return tournament


def _computer_player(text: str) -> PlayerSpec:
    """The parsed text; UnknownName if it names a human."""
    found = parse_spec(text)
    if found.kind == HUMAN:
        raise UnknownName(
            f"a human cannot play in a tournament; to play yourself: {program()} play"
        )
    return found


def describe(tournament: Tournament) -> str:
    """The players, games and number of games in one line."""
    games = len(tournament.meetings) * tournament.pairs * 2
    slugs = listed(setting.slug for setting in tournament.games)
    return f"{len(tournament.players)} players, {slugs}: {games:,} games"
