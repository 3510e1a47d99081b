"""`duels arena`: a tournament that is kept in a folder and goes on where it stopped."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from hashlib import sha256

from duels.arena.failures import left_out, told
from duels.arena.keeping import Archive
from duels.arena.page import page
from duels.arena.played import Setting, Tournament
from duels.arena.report import csv, text, to_json
from duels.arena.running import address_of, run
from duels.arena.schedule import checked, describe, setting_of
from duels.arena.sprt import bounds
from duels.arena.summary import Summary, summary
from duels.cli.files import named, shown, write
from duels.cli.progress import ProgressBar
from duels.cli.stopping import status_of, stoppable
from duels.cli.terminal import Terminal
from duels.core.errors import OptionError, quote
from duels.core.show import listed
from duels.games import catalogue, find


def arena(terminal: Terminal, given: Namespace) -> int:
    cup = checked(
        Tournament(
            players=tuple(given.players),
            games=games(given.games, given.set),
            pairs=given.pairs,
            seed=given.seed,
            gauntlet=given.gauntlet,
            sprt=bounds(given.sprt) if given.sprt else None,
            time_limit=given.time_limit,
            compiled=True,
            max_failures=given.max_failures,
        )
    )
    if given.cluster is not None:
        address_of(given.cluster)  # or it says what is wrong, before a folder is made
    folder = named(given.out) if given.out else usual_folder(cup)
    bar = ProgressBar("Arena")
    with Archive.begin(folder, cup) as archive:
        terminal.note(f"{describe(cup)}, kept in {shown(folder)}")
        for who, what in told(left_out(cup)):
            terminal.note(f"{who} {what}")
        try:
            with stoppable():
                run(archive, jobs=given.jobs, cluster=given.cluster, progress=bar)
        except KeyboardInterrupt as stop:
            bar.done()
            count = sum(portion.games for portion in archive.portions())
            terminal.note(
                f"duels: stopped; {count:,} games are kept in {shown(folder)}, "
                "and the same command goes on from there"
            )
            return status_of(stop)
        bar.done()
        found = summary(cup, archive.encounters())
    files = save(folder, found)
    if given.json:
        terminal.say([json.dumps(to_json(found), indent=1)])
        return 0
    terminal.say(text(found, ascii_only=terminal.ascii))
    place = shown(folder)
    first = found.games[0].meetings[0].record if found.games else 1
    terminal.say(["", f"In {place}: {listed(files)}. To see a game: duels replay {place}#{first}"])
    return 0


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


def usual_folder(cup: Tournament) -> str:
    """The same for the same tournament, so that the same command goes on with it."""
    told = json.dumps(cup.to_json(), sort_keys=True)
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
