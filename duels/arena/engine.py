"""Selects the engine of a tournament: compiled code, or the rules in Python.

The engines draw random numbers differently, so the same seed gives different games; a tournament
has one engine from its first game to its last. Compiled code is a thousand times faster, but it
takes seconds to compile for each pairing in each game until it is cached on disk. Functions import
it where they use it, so that a tournament by the rules starts without it.
"""

from __future__ import annotations

from collections.abc import Iterator

from duels.algorithms.solution import Progress
from duels.arena.model import Tournament
from duels.arena.schedule import compiled, game_of, opponent, prepare
from duels.core.errors import OptionError
from duels.core.extras import install_command

AUTO, COMPILED, PYTHON = "auto", "compiled", "python"

# Rough figures of one core, by which `auto` decides.
BY_RULES = 100  # games a second in Python
COMPILING = 12  # seconds for a pairing in a game
LOADING = 1  # seconds for the same from the cache on disk


def chosen(tournament: Tournament, wanted: str, progress: Progress | None = None) -> bool:
    """Whether a new tournament is played in compiled code.

    The cache on disk is considered only with a secret seed: with a public one the same command
    selects the same engine on every machine that has numba.
    """
    if wanted == PYTHON or (wanted == AUTO and 2 * tournament.pairs / BY_RULES <= LOADING):
        return False  # known without the kernel, which may have to be made of a game's tree
    from duels.kernels import have_numba, need_numba

    if wanted == COMPILED:
        need_numba()
        return True
    if not have_numba():
        return False
    able = list(encounters(tournament, progress))
    missing = sum(
        tournament.key is None or not is_ready(tournament, *encounter) for encounter in able
    )
    return 2 * tournament.pairs * len(able) / BY_RULES > COMPILING * missing + LOADING * len(able)


def encounters(
    tournament: Tournament, progress: Progress | None = None
) -> Iterator[tuple[int, int]]:
    """The games and pairings that compiled code can play."""
    for setting in tournament.games if tournament.time_limit is None else ():
        prepare(setting, tournament.players, progress)
    fast = tournament._replace(compiled=True)
    for game in range(len(tournament.games)):
        for pairing in range(len(tournament.pairings)):
            if compiled(fast, game, pairing):
                yield game, pairing


def seconds_to_compile(tournament: Tournament, progress: Progress | None = None) -> int:
    """About how long it takes to compile what a tournament needs and is not cached."""
    if not tournament.compiled:
        return 0
    return COMPILING * sum(
        not is_ready(tournament, *encounter) for encounter in encounters(tournament, progress)
    )


def is_ready(tournament: Tournament, game: int, pairing: int) -> bool:
    """Whether the code for a pairing in a game has been compiled on this machine."""
    from duels.algorithms.compiled.cache import marked

    return marked(_label(tournament, game, pairing))


def set_ready(tournament: Tournament, game: int, pairing: int) -> None:
    from duels.algorithms.compiled.cache import mark

    mark(_label(tournament, game, pairing))


def _label(tournament: Tournament, game: int, pairing: int) -> str:
    from duels.kernels import kernel_of

    rules = game_of(tournament.games[game])
    names = [opponent(tournament, index) for index in tournament.pairings[pairing]]
    return f"arena {rules.slug} {kernel_of(rules).sealed(rules)} {names!r}"


def need_engine(tournament: Tournament) -> None:
    """Raise `OptionError` for a compiled tournament if numba is missing."""
    if not tournament.compiled:
        return
    from duels.kernels import have_numba

    if not have_numba():
        raise OptionError(
            "this tournament was begun with the engine 'compiled', which needs numba: "
            f"{install_command('rl')}; or choose another --out, or use --fresh to start over"
        )
