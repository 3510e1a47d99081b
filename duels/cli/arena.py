"""`duels arena`: a tournament that is stored in a folder and can be continued."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from hashlib import sha256

from duels.arena.archive import Archive, stored_tournament
from duels.arena.engine import AUTO, chosen, need_engine, seconds_to_compile
from duels.arena.entrants import left_out, left_out_lines
from duels.arena.model import Setting, Tournament
from duels.arena.page import page
from duels.arena.program_digest import digest_of
from duels.arena.report import csv, text, to_json
from duels.arena.schedule import checked, describe, setting_of
from duels.arena.scheduler import address_of, run
from duels.arena.sprt import bounds
from duels.arena.summary import Summary, summary
from duels.cli.files import named, shown, write
from duels.cli.progress import ProgressBar
from duels.cli.signals import status_of, stoppable
from duels.cli.terminal import Terminal, program
from duels.core.chance import new_seed
from duels.core.errors import OptionError, quote
from duels.core.presentation import listed
from duels.games import catalogue, find


def arena(terminal: Terminal, given: Namespace) -> int:
    tournament = checked(
        Tournament(
            players=tuple(given.players),
            games=games(given.games, given.set),
            pairs=given.pairs,
            seed=new_seed() if given.seed is None else given.seed,
            gauntlet=given.gauntlet,
            sprt=bounds(given.sprt) if given.sprt else None,
            time_limit=given.time_limit,
            key=new_seed() if given.seed is None else None,
            max_failures=given.max_failures,
        )
    )
    tournament = tournament._replace(programs=tuple(map(digest_of, tournament.players)))
    if given.cluster is not None:
        address_of(given.cluster)  # raises if it is invalid, before a folder is created
    folder = named(given.out) if given.out else usual_folder(tournament, given.engine)
    tournament = settled(
        tournament, None if given.fresh else stored_tournament(folder), given.engine
    )
    bar = ProgressBar("Arena")
    with Archive.begin(folder, tournament, fresh=given.fresh) as archive:
        terminal.note(f"{describe(archive.tournament)}, kept in {shown(folder)}")
        for who, what in left_out_lines(left_out(archive.tournament)):
            terminal.note(f"{who} {what}")
        terminal.note(engine_text(archive.tournament))
        try:
            with stoppable():
                new = run(
                    archive,
                    jobs=given.jobs,
                    cluster=given.cluster,
                    progress=bar,
                    pairs=tournament.pairs,
                )
        except KeyboardInterrupt as stop:
            bar.done()
            count = sum(chunk.games for chunk in archive.chunks())
            same = "the same command without --fresh" if given.fresh else "the same command"
            terminal.note(
                f"duels: stopped; {count:,} games are kept in {shown(folder)}, "
                f"and {same} goes on from there"
            )
            return status_of(stop)
        bar.done()
        found = summary(archive.tournament, archive.encounters())
    files = save(folder, found)
    if not new:
        terminal.note(
            f"All {found.played:,} games were played before; nothing new was played. "
            "To play them again: --fresh"
        )
    elif new < found.played:
        terminal.note(f"{found.played - new:,} games were played before, {new:,} are new.")
    if given.json:
        terminal.say([json.dumps(to_json(found), indent=1)])
        return 0
    terminal.say(text(found, ascii_only=terminal.ascii))
    place = shown(folder)
    first = found.games[0].meetings[0].record if found.games else 1
    see = f"{program()} replay {place}#{first}"
    terminal.say(["", f"In {place}: {listed(files)}. To see a game: {see}"])
    return 0


def settled(tournament: Tournament, there: Tournament | None, engine: str) -> Tournament:
    """A tournament with its engine and seed; by default those stored in its folder."""
    if there is None:
        return tournament._replace(compiled=chosen(tournament, engine))
    if tournament.key is not None:
        tournament = tournament._replace(seed=there.seed, key=there.key)
    tournament = tournament._replace(
        compiled=there.compiled if engine == AUTO else chosen(tournament, engine)
    )
    need_engine(tournament)
    return tournament


def engine_text(tournament: Tournament) -> str:
    """One line that names the engine and the time to compile it."""
    if not tournament.compiled:
        return "Engine: python."
    seconds = seconds_to_compile(tournament)
    after = f", compiled first, which takes about {seconds} s" if seconds else ""
    return f"Engine: compiled, where both players are built in{after}."


def games(names: str, options: list[tuple[str, str]]) -> tuple[Setting, ...]:
    """The games named by the user; an option applies to all of them that have it."""
    wanted = list(catalogue()) if names == "all" else names.split(",")
    kinds = list(dict.fromkeys(find(name.strip()) for name in wanted))
    for option, _ in options:
        if not any(option in kind.options() for kind in kinds):
            raise OptionError(
                f"none of {listed(kind.slug for kind in kinds)} has an option {quote(option)}"
            )
    return tuple(
        setting_of(kind(**{name: value for name, value in options if name in kind.options()}))
        for kind in kinds
    )


def usual_folder(tournament: Tournament, engine: str) -> str:
    """The default folder: equal for equal players, programs and games, so a command resumes.

    The number of pairs is left out: more of them extend a tournament.
    """
    about = tournament.to_json() | {"engine": engine}
    del about["pairs"]
    text = json.dumps(about, sort_keys=True)
    return f"arena-{sha256(text.encode()).hexdigest()[:8]}"


def save(folder: str, found: Summary) -> list[str]:
    """Write the results in every format; the same games give the same files."""
    texts = {
        "report.html": page(found),
        "results.csv": csv(found),
        "results.json": json.dumps(to_json(found), indent=1) + "\n",
    }
    for name, content in texts.items():
        write(os.path.join(folder, name), content)
    return list(texts)
