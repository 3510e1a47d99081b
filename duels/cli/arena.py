"""`duels arena`: a tournament that is stored in a folder and can be continued."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterator
from hashlib import sha256

from duels.algorithms.solution import Progress
from duels.arena.archive import Archive, stored_tournament
from duels.arena.engine import AUTO, chosen, need_engine, seconds_to_compile
from duels.arena.entrants import left_out, left_out_lines
from duels.arena.live import LiveStandings
from duels.arena.model import Setting, Tournament
from duels.arena.page import page
from duels.arena.program_digest import digest_of
from duels.arena.records import all_records
from duels.arena.report import csv, text, to_json
from duels.arena.schedule import checked, describe, setting_of
from duels.arena.scheduler import address_of, run
from duels.arena.sprt import bounds
from duels.arena.summary import Summary, summary
from duels.cli.files import checked_path, shown, write, write_lines
from duels.cli.progress import PATIENCE, LiveBar, ProgressBar
from duels.cli.signals import signals_as_exceptions, status_of
from duels.cli.terminal import Terminal
from duels.core.chance import new_seed
from duels.core.errors import OptionError, program, quote
from duels.core.presentation import listed
from duels.games import catalogue, find


def arena(terminal: Terminal, given: Namespace) -> int:
    preparing = ProgressBar("Preparing the players", PATIENCE)

    def progress(part: float, what: str) -> None:
        preparing(min(part, 0.99), what)

    tournament = checked(
        Tournament(
            players=tuple(given.players),
            games=games(given.games, given.set),
            pairs=given.count,
            seed=new_seed() if given.seed is None else given.seed,
            gauntlet=given.gauntlet,
            sprt=bounds(given.sprt) if given.sprt else None,
            time_limit=given.time_limit,
            key=new_seed() if given.seed is None else None,
            max_failures=given.max_failures,
        ),
        progress,
    )
    tournament = tournament._replace(
        programs=tuple(digest_of(tournament.text_of(name)) for name in tournament.players)
    )
    if given.cluster is not None:
        address_of(given.cluster)  # raises if it is invalid, before a folder is created
    folder = checked_path(given.out) if given.out else usual_folder(tournament, given.engine)
    tournament = settled(
        tournament, None if given.fresh else stored_tournament(folder), given.engine, progress
    )
    with Archive.begin(folder, tournament, fresh=given.fresh) as archive:
        live = LiveStandings(archive.tournament)
        bar = LiveBar("Arena", live.lines) if terminal.refreshing else ProgressBar("Arena")
        terminal.note(f"{describe(archive.tournament)}; results go to {shown(folder)}")
        for who, what in left_out_lines(left_out(archive.tournament)):
            terminal.note(f"{who} {what}")
        engine = engine_text(archive.tournament, progress)
        preparing.done()
        terminal.note(engine)
        try:
            with signals_as_exceptions():
                new = run(
                    archive,
                    jobs=given.jobs,
                    cluster=given.cluster,
                    progress=bar,
                    pairs=tournament.pairs,
                    watch=live.add if terminal.refreshing else None,
                )
        except KeyboardInterrupt as stop:
            bar.done()
            count = sum(chunk.games for chunk in archive.chunks())
            same = "The same command without --fresh" if given.fresh else "The same command"
            terminal.note(
                f"duels: stopped; {count:,} games are stored in {shown(folder)}. {same} continues "
                "from there."
            )
            return status_of(stop)
        if isinstance(bar, LiveBar):
            bar.erase()
        else:
            bar.done()
        found = summary(archive.tournament, archive.encounters())
        if given.export:
            export(terminal, archive, given.export, found.played)
    files = save(folder, found)
    if not new:
        terminal.note(
            f"All {found.played:,} games were played before; nothing new was played. "
            "Use --fresh to play them again."
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


def export(terminal: Terminal, archive: Archive, path: str, games: int) -> None:
    """Write the record of every stored game as JSON lines."""
    bar, count = ProgressBar("Exporting", PATIENCE), 0

    def lines() -> Iterator[str]:
        nonlocal count
        for found in all_records(archive):
            yield json.dumps(found, ensure_ascii=False) + "\n"
            count += 1
            bar(min(1.0, count / max(1, games)), f"{count:,} of {games:,} games")

    write_lines(checked_path(path), lines())
    bar.done()
    terminal.note(f"Wrote {count:,} games to {shown(path)}")


def settled(
    tournament: Tournament, there: Tournament | None, engine: str, progress: Progress
) -> Tournament:
    """A tournament with its engine and seed; by default those stored in its folder."""
    if there is None:
        return tournament._replace(compiled=chosen(tournament, engine, progress))
    if tournament.key is not None:
        tournament = tournament._replace(seed=there.seed, key=there.key)
    tournament = tournament._replace(
        compiled=there.compiled if engine == AUTO else chosen(tournament, engine, progress)
    )
    need_engine(tournament)
    return tournament


def engine_text(tournament: Tournament, progress: Progress) -> str:
    """One line that names the engine and the time to compile it."""
    if not tournament.compiled:
        return "Engine: python."
    seconds = seconds_to_compile(tournament, progress)
    after = f"; compiling takes about {seconds} s first" if seconds else ""
    return f"Engine: compiled, where both players are built in{after}."


def games(names: str | None, options: list[tuple[str, str]]) -> tuple[Setting, ...]:
    """The games named by the user; an option applies to all of them that have it."""
    wanted = list(catalogue()) if names is None else names.split(",")
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
