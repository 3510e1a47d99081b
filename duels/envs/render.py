"""What a screen shows of an episode: the game's own words, as one viewer may read them.

Only what a viewer may see is asked for, so that a picture leaks no more than an observation.

>>> from duels.envs.coding import coding
>>> from duels.envs.episode import Episode
>>> from duels.games import load
>>> episode = Episode(coding(load("number-wars")), seed=1, keep=True)
>>> screen = Screen()
>>> episode.pick(0, 8)
>>> print(screen.text(episode, viewer=None).splitlines()[-1])
Player 2: 1 2 3 4 5 6 7 8 9 10
"""

from __future__ import annotations

from duels.core.show import Die, Hand, Lines, Meter, Part, Pile, Score, Tokens, listed
from duels.envs.episode import Episode

MODES = ["human", "ansi"]


class Screen:
    """Remembers how much of an episode has been shown, so that each event is told once."""

    def __init__(self) -> None:
        self.told = 0

    def text(self, episode: Episode, viewer: int | None) -> str:
        """What has happened since the last look, then where the game stands."""
        game = episode.coding.game
        lines: Lines = []
        happened = episode.happened or []
        states = [before for before, _ in happened] + [episode.state]
        if self.told == 0:
            lines += game.opening(game.observe(states[0], viewer))
        for number in range(self.told, len(happened)):
            before, event = happened[number]
            seen = game.observe(before, viewer)
            after = game.observe(states[number + 1], viewer)
            lines += game.tell(seen, game.seen(before, event, viewer), after, viewer)
        self.told = len(happened)
        seen = game.observe(episode.state, viewer)
        if episode.result is not None:
            lines += game.ending(seen, episode.result)
        else:
            lines += game.status(seen, viewer)
            lines += [line for part in game.table(seen, viewer) if (line := part_line(part))]
        return "\n".join(lines) + "\n"


def part_line(part: Part) -> str:
    """A part of a game's table in one line; nothing for what has no contents to show.

    >>> part_line(Meter("Player 1", 7, 10)), part_line(Hand("Player 2", (), hidden=3))
    ('Player 1: 7 of 10', 'Player 2: 3 hidden')
    """
    match part:
        case Meter(label, value, top) | Score(label, value, top):
            return f"{label}: {value} of {top}"
        case Tokens(label, free, _):
            return f"{label}: {listed(free, ' ') or 'none left'}"
        case Hand(label, cards, hidden):
            return f"{label}: {listed(cards, ' ')}{f'{hidden} hidden' if hidden else ''}"
        case Pile(label, size, cards):
            return f"{label}: {listed(cards, ' ') or size}"
        case Die(label, face):
            return f"{label}: {face}"
    return ""
