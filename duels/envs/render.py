"""Rendering of an episode for one viewer, as text or as an image.

Only the viewer's view is used, so that neither shows more than an observation.

>>> from duels.envs.encoding import encoding
>>> from duels.envs.episode import Episode
>>> from duels.games import load
>>> episode = Episode(encoding(load("number-wars")), seed=1, keep=True)
>>> screen = EpisodeRenderer()
>>> episode.pick(0, 8)
>>> print(screen.text(episode, viewer=None).splitlines()[-1])
Player 2 Numbers: 1 2 3 4 5 6 7 8 9 10
"""

from __future__ import annotations

from typing import Any

from duels.core.extras import Array, need
from duels.core.narrator import narrate
from duels.core.presentation import Lines, listed, part_line
from duels.envs.episode import Episode, NarratedEpisode
from duels.envs.image import frame

MODES = ["human", "ansi", "rgb_array"]
METADATA: dict[str, Any] = {"render_modes": MODES, "render_fps": 1}  # a choice a second


class EpisodeRenderer:
    """Tracks how much of an episode has been shown, so that each event is shown once."""

    def __init__(self) -> None:
        self.shown = 0

    def render(self, mode: str | None, episode: Episode, viewer: int | None) -> str | Array | None:
        """The result of an environment's `render`; in the mode "human" the text is printed."""
        if mode is None:
            logger = need("gymnasium", extra="rl").logger
            logger.warn(f"render() needs a render_mode; pass one of {listed(MODES)} to make()")
            return None
        if mode == "rgb_array":
            return frame(episode, viewer)
        text = self.text(episode, viewer)
        if mode == "ansi":
            return text
        print(text, end="")
        return None

    def text(self, episode: Episode, viewer: int | None) -> str:
        """The events since the last call, then the current table."""
        narrated = NarratedEpisode(episode)
        count = len(narrated.events)
        lines: Lines = []
        for passage in narrate(narrated, viewer, self.shown):
            if passage.kind != "status" or passage.number == count:
                lines += passage.lines
        self.shown = count
        if narrated.result is None:
            seen = narrated.game.observe(episode.state, viewer)
            parts = narrated.game.table(seen, viewer, narrated.history(viewer))
            lines += [line for part in parts if (line := part_line(part))]
        return "\n".join(lines) + "\n"
