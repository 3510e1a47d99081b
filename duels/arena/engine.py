"""Which engine plays a tournament: compiled code, or the rules in Python.

The two draw their random numbers in different ways, so the same seed gives other games with the
other engine; a tournament has one engine from its first game to its last. Compiled code is a
thousand times faster and has to be compiled first, which takes seconds for each two players in
each game until it is kept on disk.
"""

from __future__ import annotations

from collections.abc import Iterator

from duels.arena.played import Tournament
from duels.arena.schedule import compiled, game_of
from duels.core.errors import OptionError
from duels.envs.kernels import have_numba, kernel_of, need_numba
from duels.solve.compiled.cache import mark, marked

AUTO, COMPILED, PYTHON = "auto", "compiled", "python"
ENGINES = (AUTO, COMPILED, PYTHON)

# Rough figures of one core, to choose by.
BY_RULES = 100  # games a second in Python
COMPILING = 12  # seconds for two players in a game
LOADING = 1  # seconds for the same, where it is on disk


def chosen(cup: Tournament, wanted: str) -> bool:
    """Whether a new tournament is played in compiled code.

    What is kept on disk counts only with a secret seed: with a public one the same command chooses
    the same engine on every machine that has numba.
    """
    if wanted == PYTHON or (wanted == AUTO and not have_numba()):
        return False
    if wanted == COMPILED:
        need_numba()
        return True
    able = list(encounters(cup))
    missing = sum(cup.key is None or not is_ready(cup, *encounter) for encounter in able)
    return 2 * cup.pairs * len(able) / BY_RULES > COMPILING * missing + LOADING * len(able)


def encounters(cup: Tournament) -> Iterator[tuple[int, int]]:
    """The games and pairings that compiled code can play."""
    fast = cup._replace(compiled=True)
    for game in range(len(cup.games)):
        for pairing in range(len(cup.pairings)):
            if compiled(fast, game, pairing):
                yield game, pairing


def seconds_to_compile(cup: Tournament) -> int:
    """About how long compiling takes, before all that a tournament needs is on disk."""
    if not cup.compiled:
        return 0
    return COMPILING * sum(not is_ready(cup, *encounter) for encounter in encounters(cup))


def is_ready(cup: Tournament, game: int, pairing: int) -> bool:
    """Whether the code for a pairing in a game has been compiled on this machine."""
    return marked(_label(cup, game, pairing))


def set_ready(cup: Tournament, game: int, pairing: int) -> None:
    mark(_label(cup, game, pairing))


def _label(cup: Tournament, game: int, pairing: int) -> str:
    rules = game_of(cup.games[game])
    names = [cup.players[index] for index in cup.pairings[pairing]]
    return f"arena {rules.slug} {kernel_of(rules).sealed(rules)} {names!r}"


def need_engine(cup: Tournament) -> None:
    """Refuse a tournament in compiled code where numba is missing."""
    if cup.compiled and not have_numba():
        raise OptionError(
            "it was begun with the engine 'compiled', which needs numba: pip install 'duels[rl]'; "
            "or choose another --out, or --fresh to start over"
        )
