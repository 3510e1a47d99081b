"""Autosave of the match that is played at the terminal, with a notice when saving fails.

The match is saved in the file that the user named; if that fails, in the state directory, and if
that fails too, in the system's temporary directory. A file is overwritten only if it contains an
earlier state of the same match.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from duels.core.errors import RecordError
from duels.core.match import Match


class Autosave:
    """Saves one match. `say` shows a line to the user that is not part of the game."""

    def __init__(self, path: str | None, say: Callable[[str], None]) -> None:
        """Save a match in the file at `path`; with None, only when the player leaves it.

        An invalid file name is refused with a RecordError.
        """
        if path is not None:
            from duels.cli.files import checked_path

            path = checked_path(path)
        self.path = path  # where the match is saved now
        self._named = path
        self._say = say
        self._told = ""  # the last problem that was reported to the user
        self._copies: set[str] = set()  # other files, written while the named one failed
        self._series, self._number = path, 1  # file name and number in a series of rematches

    def begin(self, match: Match) -> None:
        """Check the file before the game: it must be writable and not contain anything else.

        A rematch begins even if the check fails, and is saved in another place.
        """
        if self._named is not None and self._number == 1:
            self._claim(match, self._named)
        else:
            self.keep(match)

    def keep(self, match: Match) -> None:
        """Save after a turn. A problem is reported once and does not end the match."""
        if self.path is not None:
            try:
                self._store(match)
            except RecordError as error:
                self._tell(f"{error}. The match goes on")

    def save(self, match: Match, path: str = "") -> str:
        """Save on request of the player, who may name a file that is used from then on.

        Returns the path of the file. If a RecordError is raised, nothing has changed.
        """
        if not path:
            return self._store(match)
        from duels.cli.files import checked_path

        target = checked_path(path)
        self._claim(match, target)
        self._named = self._series = target
        self._number, self._told = 1, ""
        self._settle(match, target, "")
        return target

    def leave(self, match: Match) -> str:
        """Save for the last time; returns the path, or raises RecordError if all places fail."""
        return self._store(match)

    def next(self) -> Autosave:
        """The autosave of a rematch: after war.json the first free name of war-2.json and so on.

        If no file was named, none is used for the rematch.
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
        from duels.cli.files import WouldOverwrite, save_match

        try:
            save_match(match, path)
        except WouldOverwrite as error:
            raise RecordError(f"{error}; choose another file name") from None

    def _places(self, match: Match) -> Iterator[str]:
        from duels.cli.files import default_paths

        if self._named is not None:
            yield self._named
        yield from (place for place in default_paths(match) if place != self._named)

    def _store(self, match: Match) -> str:
        """Write to the first place that can be written."""
        from duels.cli.files import save_match

        troubles: list[str] = []
        for place in self._places(match):
            try:
                save_match(match, place, private=place != self._named)
            except RecordError as error:
                troubles.append(str(error))
            else:
                self._settle(match, place, troubles[0] if troubles else "")
                return place
        raise RecordError(f"The match cannot be saved anywhere: {'; '.join(troubles)}")

    def _settle(self, match: Match, place: str, trouble: str) -> None:
        """Set where the match is saved now, report a change, and remove older copies."""
        from duels.cli.files import remove_copy, shown

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
            if os.path.realpath(copy) != real and not remove_copy(match, copy)
        }
        if place != self._named:
            self._copies.add(place)

    def _tell(self, trouble: str) -> None:
        if trouble != self._told:
            self._told = trouble
            self._say(trouble)
