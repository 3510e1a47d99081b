"""Autosave of the match that is played at the terminal, with a notice when saving fails.

The match is kept in the file the user named; while that does not work, in the state directory, and
if need be in the system's temporary directory. A file is written over only if it holds an earlier
state of the same match.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from duels.core.errors import RecordError
from duels.core.match import Match


class Autosave:
    """Where one match is kept. `say` shows a line to the user, apart from the game."""

    def __init__(self, path: str | None, say: Callable[[str], None]) -> None:
        """Keep a match in the file at `path`, or with None nowhere before it is left.

        A name that no file can have is refused with a RecordError.
        """
        if path is not None:
            from duels.cli.files import named

            path = named(path)
        self.path = path  # where the match is kept now
        self._named = path
        self._say = say
        self._told = ""  # the trouble that the user knows of
        self._copies: set[str] = set()  # kept elsewhere while the named file did not work
        self._series, self._number = path, 1  # of rematches

    def begin(self, match: Match) -> None:
        """Before the game: refuse a place that does not work or holds something else.

        A rematch begins anyhow, wherever it can be kept.
        """
        if self._named is not None and self._number == 1:
            self._claim(match, self._named)
        else:
            self.keep(match)

    def keep(self, match: Match) -> None:
        """After every turn. Trouble is told once and does not end the match."""
        if self.path is not None:
            try:
                self._store(match)
            except RecordError as error:
                self._tell(f"{error}. The match goes on")

    def save(self, match: Match, path: str = "") -> str:
        """The player asks to save, and may name a file that is used from then on.

        Returns where the match is. A RecordError changes nothing.
        """
        if not path:
            return self._store(match)
        from duels.cli.files import named

        target = named(path)
        self._claim(match, target)
        self._named = self._series = target
        self._number, self._told = 1, ""
        self._settle(match, target, "")
        return target

    def leave(self, match: Match) -> str:
        """The last save. Returns where the match is; a RecordError means that it is nowhere."""
        return self._store(match)

    def next(self) -> Autosave:
        """For a rematch: war.json is followed by war-2.json, or the first such name that is free.

        Where no file was named, none is for the rematch.
        """
        from duels.core.folders import state_folder

        if self._series is None or os.path.dirname(self._series) == state_folder():
            return Autosave(None, self._say)
        stem, ending = os.path.splitext(self._series)
        number = self._number + 1
        while os.path.lexists(path := f"{stem}-{number}{ending}"):
            number += 1
        autosave = Autosave(path, self._say)
        autosave._series, autosave._number = self._series, number
        return autosave

    def _claim(self, match: Match, path: str) -> None:
        from duels.cli.files import WouldOverwrite, put

        try:
            put(match, path)
        except WouldOverwrite as error:
            raise RecordError(f"{error}; choose another name to save in") from None

    def _places(self, match: Match) -> Iterator[str]:
        from duels.cli.files import shelters

        if self._named is not None:
            yield self._named
        yield from (place for place in shelters(match) if place != self._named)

    def _store(self, match: Match) -> str:
        """Write to the first place that works."""
        from duels.cli.files import put

        troubles: list[str] = []
        for place in self._places(match):
            try:
                put(match, place, private=place != self._named)
            except RecordError as error:
                troubles.append(str(error))
            else:
                self._settle(match, place, troubles[0] if troubles else "")
                return place
        raise RecordError(f"The match cannot be saved anywhere: {'; '.join(troubles)}")

    def _settle(self, match: Match, place: str, trouble: str) -> None:
        """The match is kept here now: tell if that is news, and leave no older copy about."""
        from duels.cli.files import shown, withdraw

        self.path = place
        if trouble:
            self._tell(f"{trouble}. The match is kept in {shown(place)} instead")
        elif self._told:
            self._told = ""
            self._say(f"The match is kept in {shown(place)} again")
        real = os.path.realpath(place)
        self._copies = {
            copy
            for copy in self._copies
            if os.path.realpath(copy) != real and not withdraw(match, copy)
        }
        if place != self._named:
            self._copies.add(place)

    def _tell(self, trouble: str) -> None:
        if trouble != self._told:
            self._told = trouble
            self._say(trouble)
