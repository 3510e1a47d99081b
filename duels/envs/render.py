"""What a screen shows of an episode: the game's own words, as one viewer may read them.

Only what a viewer may see is asked for, so that a picture leaks no more than an observation.

>>> from duels.envs.coding import coding
>>> from duels.envs.episode import Episode
>>> from duels.games import load
>>> episode = Episode(coding(load("number-wars")), seed=1, keep=True)
>>> screen = Screen()
>>> episode.pick(0, 8)
>>> print(screen.text(episode, viewer=None).splitlines()[-1])
Player 2 Numbers: 1 2 3 4 5 6 7 8 9 10
"""

from __future__ import annotations

from typing import Any

from duels.core.game import AnyGame, Event, History, Result
from duels.core.narrator import narrate
from duels.core.show import Lines, part_line
from duels.envs.episode import Episode

MODES = ["human", "ansi"]


class EpisodeStory:
    """An episode as the core's narrator reads it."""

    def __init__(self, episode: Episode) -> None:
        self._happened = episode.happened or []
        self._state = episode.state
        self.game: AnyGame = episode.coding.game
        self.events: list[Event] = [event for _, event in self._happened]
        self.result: Result | None = episode.result

    def state_before(self, number: int) -> Any:
        return self._happened[number][0]

    def state_after(self, number: int) -> Any:
        return self._happened[number + 1][0] if number + 1 < len(self._happened) else self._state

    def told(self, number: int, viewer: int | None) -> Event:
        return self.game.redact(*self._happened[number], viewer)

    def history(self, viewer: int | None, before: int | None = None) -> History:
        return tuple(self.told(n, viewer) for n in range(len(self.events))[:before])


class Screen:
    """Remembers how much of an episode has been shown, so that each event is told once."""

    def __init__(self) -> None:
        self.told = 0

    def text(self, episode: Episode, viewer: int | None) -> str:
        """What has happened since the last look, then where the game stands."""
        story = EpisodeStory(episode)
        count = len(story.events)
        lines: Lines = []
        for passage in narrate(story, viewer, self.told):
            if passage.kind != "status" or passage.number == count:
                lines += passage.lines
        self.told = count
        if story.result is None:
            seen = story.game.observe(episode.state, viewer)
            parts = story.game.table(seen, viewer, story.history(viewer))
            lines += [line for part in parts if (line := part_line(part))]
        return "\n".join(lines) + "\n"
