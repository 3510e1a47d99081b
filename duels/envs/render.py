"""What `render` gives of an episode: the game's own words or an image, as one viewer may see them.

Only what a viewer may see is asked for, so that neither leaks more than an observation.

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

from duels.core.narrator import narrate
from duels.core.show import Lines, listed, part_line
from duels.envs.episode import Episode, EpisodeStory
from duels.envs.extras import Array, need
from duels.envs.image import frame

MODES = ["human", "ansi", "rgb_array"]
METADATA: dict[str, Any] = {"render_modes": MODES, "render_fps": 1}  # a choice a second


class Screen:
    """Remembers how much of an episode has been shown, so that each event is told once."""

    def __init__(self) -> None:
        self.told = 0

    def render(self, mode: str | None, episode: Episode, viewer: int | None) -> str | Array | None:
        """What an environment's `render` returns; in the mode "human" the text is printed."""
        if mode is None:
            logger = need("gymnasium", extra="rl").logger
            logger.warn(f"render() needs a render_mode, given to make: one of {listed(MODES)}")
            return None
        if mode == "rgb_array":
            return frame(episode, viewer)
        text = self.text(episode, viewer)
        if mode == "ansi":
            return text
        print(text, end="")
        return None

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
