"""`duels arena`: a tournament that is kept in a folder and goes on where it stopped."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from hashlib import sha256

from duels.arena.engine import AUTO, chosen, need_engine, seconds_to_compile
from duels.arena.failures import left_out, told
from duels.arena.keeping import Archive
from duels.arena.page import page
from duels.arena.played import Setting, Tournament
from duels.arena.programs import digest_of
from duels.arena.report import csv, text, to_json
from duels.arena.running import address_of, run
from duels.arena.schedule import checked, describe, setting_of
from duels.arena.sprt import bounds
from duels.arena.store import kept
from duels.arena.summary import Summary, summary
from duels.cli.files import named, shown, write
from duels.cli.progress import ProgressBar
from duels.cli.stopping import status_of, stoppable
from duels.cli.terminal import Terminal
from duels.core.chance import new_seed
from duels.core.errors import OptionError, quote
from duels.core.show import listed
from duels.games import catalogue, find


def arena(terminal: Terminal, given: Namespace) -> int:
    cup = checked(
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
    cup = cup._replace(programs=tuple(map(digest_of, cup.players)))
    if given.cluster is not None:
        address_of(given.cluster)  # or it says what is wrong, before a folder is made
    folder = named(given.out) if given.out else usual_folder(cup, given.engine)
    cup = settled(cup, None if given.fresh else kept(folder), given.engine)
    bar = ProgressBar("Arena")
    with Archive.begin(folder, cup, fresh=given.fresh) as archive:
        terminal.note(f"{describe(archive.cup)}, kept in {shown(folder)}")
        for who, what in told(left_out(archive.cup)):
            terminal.note(f"{who} {what}")
        terminal.note(engine_text(archive.cup))
        try:
            with stoppable():
                new = run(
                    archive, jobs=given.jobs, cluster=given.cluster, progress=bar, pairs=cup.pairs
                )
        except KeyboardInterrupt as stop:
            bar.done()
            count = sum(portion.games for portion in archive.portions())
            same = "the same command without --fresh" if given.fresh else "the same command"
            terminal.note(
                f"duels: stopped; {count:,} games are kept in {shown(folder)}, "
                f"and {same} goes on from there"
            )
            return status_of(stop)
        bar.done()
        found = summary(archive.cup, archive.encounters())
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
    terminal.say(["", f"In {place}: {listed(files)}. To see a game: duels replay {place}#{first}"])
    return 0


def settled(cup: Tournament, there: Tournament | None, engine: str) -> Tournament:
    """A tournament with its engine and seed: those of the folder, where a user names no other."""
    if there is None:
        return cup._replace(compiled=chosen(cup, engine))
    if cup.key is not None:
        cup = cup._replace(seed=there.seed, key=there.key)
    cup = cup._replace(compiled=there.compiled if engine == AUTO else chosen(cup, engine))
    need_engine(cup)
    return cup


def engine_text(cup: Tournament) -> str:
    """In a line: the engine, and how long it takes to compile."""
    if not cup.compiled:
        return "Engine: python."
    seconds = seconds_to_compile(cup)
    after = f", compiled first, which takes about {seconds} s" if seconds else ""
    return f"Engine: compiled, where both players are built in{after}."


def games(names: str, options: list[tuple[str, str]]) -> tuple[Setting, ...]:
    """The games a user named; an option is for all of them that have it."""
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


def usual_folder(cup: Tournament, engine: str) -> str:
    """The same for the same players, programs and games, so that the same command goes on.

    The number of pairs is left out: more of them extend a tournament.
    """
    about = cup.to_json() | {"engine": engine}
    del about["pairs"]
    told = json.dumps(about, sort_keys=True)
    return f"arena-{sha256(told.encode()).hexdigest()[:8]}"


def save(folder: str, found: Summary) -> list[str]:
    """Write the results in every form; the same games give the same files."""
    texts = {
        "report.html": page(found),
        "results.csv": csv(found),
        "results.json": json.dumps(to_json(found), indent=1) + "\n",
    }
    for name, content in texts.items():
        write(os.path.join(folder, name), content)
    return list(texts)
