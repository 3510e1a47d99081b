"""Image of an episode: the parts of the game's table, and below it the latest events.

Every frame has the same size. Only the viewer's view of the game is used, so that a frame shows no
more than an observation or the text. Every game with a `table` is supported.

>>> from duels.envs.encoding import encoding
>>> from duels.envs.episode import Episode
>>> from duels.games import load
>>> image = frame(Episode(encoding(load("number-wars")), seed=1, keep=True), viewer=0)
>>> image.shape, str(image.dtype)
((544, 640, 3), 'uint8')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from textwrap import wrap
from typing import NamedTuple

from duels.core.extras import Array
from duels.core.narrator import narrate
from duels.core.presentation import (
    BAD,
    GOOD,
    HEADING,
    ON_TABLE,
    RESULT,
    Die,
    Hand,
    Meter,
    Part,
    Pile,
    Played,
    Points,
    Sealed,
    Tokens,
    player_name,
    tone,
    whose,
)
from duels.core.views import table_of
from duels.envs.encoding import np
from duels.envs.episode import Episode, NarratedEpisode
from duels.plotting.bitmap import ADVANCE, LINE, Canvas, width_of

WIDTH, HEIGHT = 640, 544  # multiples of 16, which video encoders want
EDGE, PAD, GAP = 8, 10, 8  # around panels, inside them, between their parts
INSIDE = WIDTH - 2 * (EDGE + PAD)
HEADER = 30  # of a panel
TOP, SIDE, MIDDLE = 36, 152, 102  # heights: the title, a player's panel, what lies between them
SIZES = (2, 1)  # of letters and cards; the second where a table is too full for the first
MOST_CELLS, MOST_POINTS = 40, 12  # beyond these a meter is a plain bar, and so is a score
LOG_LINES = 4
RECENT = 12  # events whose text may be among the last lines

PALETTE = (
    (24, 27, 38), (37, 41, 58), (88, 96, 126), (152, 160, 184), (240, 242, 248), (86, 156, 255),
    (88, 196, 120), (240, 190, 80), (240, 100, 100), (250, 248, 240), (34, 37, 52), (46, 82, 140),
)  # fmt: skip
GROUND, PANEL, DIM, MUTED, INK, ACCENT, GREEN, YELLOW, RED, FACE, FACE_INK, BACK = range(12)
TONES = {HEADING: ACCENT, GOOD: GREEN, BAD: RED, RESULT: YELLOW}
SPOTS = {
    "1": (4,), "2": (0, 8), "3": (0, 4, 8), "4": (0, 2, 6, 8), "5": (0, 2, 4, 6, 8),
    "6": (0, 2, 3, 5, 6, 8),
}  # fmt: skip

Draw = Callable[[Canvas, int, int], None]


class Block(NamedTuple):
    """A drawing of known size that can be placed anywhere."""

    width: int
    height: int
    draw: Draw


def frame(episode: Episode, viewer: int | None) -> Array:
    """A viewer's image of an episode made with `keep`: uint8, height x width x 3."""
    canvas = drawn(episode, viewer)
    pixels = np.frombuffer(canvas.pixels, np.uint8).reshape(HEIGHT, WIDTH)
    return np.array(PALETTE, np.uint8)[pixels]


def drawn(episode: Episode, viewer: int | None) -> Canvas:
    """The table with the viewer's side below, the opponent's above, common parts between."""
    canvas = Canvas(WIDTH, HEIGHT, PALETTE)
    view = episode.view(viewer)
    canvas.text(EDGE + 2, 11, view.game.title, INK, 2)
    parts = table_of(view)
    own = 1 if viewer == 1 else 0
    y = TOP
    for player in (1 - own, None, own):
        some = [part for part in parts if _zone(part) == player]
        height = MIDDLE if player is None else SIDE
        if player is not None:
            _panel(canvas, episode, player, viewer, y)
        header = 0 if player is None else HEADER
        for size in SIZES:
            block = _flow((_labelled(part, viewer, size) for part in some), INSIDE, GAP * size)
            if block.height <= height - header - PAD:
                break
        left = EDGE + PAD + (INSIDE - block.width) // 2 if player is None else EDGE + PAD
        spare = max(0, height - header - PAD - block.height)
        block.draw(canvas, left, y + header + spare // 2)
        y += height
    canvas.rectangle(0, y, WIDTH, HEIGHT - y, GROUND)  # clear what did not fit above
    for line, colour in _log(episode, viewer):
        y += 2 * LINE + 5
        canvas.text(EDGE + 2, y - LINE, line, colour, 2)
    return canvas


def _zone(part: Part) -> int | None:
    """The player in whose panel a part is drawn; None between the panels."""
    return None if isinstance(part, Die | Sealed | Played) else part.owner


def _panel(canvas: Canvas, episode: Episode, player: int, viewer: int | None, y: int) -> None:
    """A player's panel: the name, and whether the player is to move or has won."""
    canvas.rectangle(0, y, WIDTH, SIDE, GROUND)
    result, chooses = episode.result, player in episode.deciders
    won = result is not None and result.winner == player
    _box(canvas, EDGE, y, WIDTH - 2 * EDGE, SIDE - 6, YELLOW if won else ACCENT if chooses else DIM)
    name = player_name(player) + (" (you)" if player == viewer else "")
    canvas.text(EDGE + PAD, y + 8, name, INK, 2)
    word = "to move" if chooses else ""
    if result is not None:
        word = "draw" if result.winner is None else "winner" if won else ""
    right = WIDTH - EDGE - PAD - width_of(word, 2)
    canvas.text(right, y + 8, word, ACCENT if chooses else YELLOW, 2)


def _box(canvas: Canvas, x: int, y: int, width: int, height: int, edge: int) -> None:
    canvas.rectangle(x, y, width, height, edge, 8)
    canvas.rectangle(x + 2, y + 2, width - 4, height - 4, PANEL, 6)


def _log(episode: Episode, viewer: int | None) -> list[tuple[str, int]]:
    """The last lines of the viewer's narration, without those that repeat the table."""
    narrated = NarratedEpisode(episode)
    passages = narrate(narrated, viewer, max(0, len(narrated.events) - RECENT))
    lines = [
        (part, TONES.get(tone(line), MUTED))
        for passage in passages
        if passage.kind in ("event", "ending")
        for line in passage.lines
        if tone(line) != ON_TABLE
        for part in wrap(line, (WIDTH - 2 * EDGE) // (2 * ADVANCE))
    ]
    return lines[-LOG_LINES:]


# Parts. `size` multiplies all lengths.


def _labelled(part: Part, viewer: int | None, size: int) -> Block:
    """A part below its label; between the panels the label names the owner."""
    name = part.label
    if _zone(part) is None and part.owner is not None:
        name = f"{whose(part.owner, viewer)} {name}"
    body = _flow(_body(part, size), INSIDE, 2 * size)
    head = (LINE + 3) * size

    def draw(canvas: Canvas, x: int, y: int) -> None:
        canvas.text(x, y, name, MUTED, size)
        body.draw(canvas, x, y + head)

    return Block(max(body.width, width_of(name, size)), head + body.height, draw)


def _body(part: Part, size: int) -> Iterator[Block]:
    match part:
        case Points(_, points, goal) if 0 <= points <= goal <= MOST_POINTS:
            for n in range(goal):
                yield _disc(size, n < points)
            yield _words(f"{points} / {goal}", size, 9 * size)
        case Meter(_, value, top) | Points(_, value, top):
            falls = isinstance(part, Meter)
            yield Block(74 * size, 11 * size, partial(_bar, value, top, falls, size))
            yield _words(f"{value} / {top}", size, 11 * size)
        case Tokens(_, items):
            for item in items:
                yield _card(item.face, 14, 16, size, "spent" if item.spent else "token")
        case Hand(_, cards, hidden):
            for card in cards:
                yield _card(card.face, 17, 24, size, "spent" if card.spent else "card")
            for _ in range(hidden):
                yield _card("", 17, 24, size, "back")
            if not cards and not hidden:
                yield _words("none", size, 24 * size)
        case Pile(_, number, cards):
            yield _card(str(number), 17, 24, size, "pile" if number else "spent")
            for face, same in groupby(cards, key=lambda card: card.face):
                count = len(tuple(same))
                yield _words(face if count == 1 else f"{face}x{count}", size, 24 * size)
        case Die(_, face):
            yield _die(face, size)
        case Played(_, face):
            yield _card(face, 17, 24, size, "card")
        case Sealed(_, placed):
            yield _card("", 17, 24, size, "back" if placed else "spent")


def _flow(blocks: Iterable[Block], most: int, gap: int) -> Block:
    """Blocks from left to right, wrapped into rows."""
    placed: list[tuple[int, int, Block]] = []
    x = y = row = width = 0
    for block in blocks:
        if x and x + block.width > most:
            x, y, row = 0, y + row + gap, 0
        placed.append((x, y, block))
        x, row = x + block.width + gap, max(row, block.height)
        width = max(width, x - gap)

    def draw(canvas: Canvas, left: int, top: int) -> None:
        for right, down, block in placed:
            block.draw(canvas, left + right, top + down)

    return Block(width, y + row, draw)


def _words(text: str, size: int, height: int) -> Block:
    """A text, vertically centred."""

    def draw(canvas: Canvas, x: int, y: int) -> None:
        canvas.text(x + 2 * size, y + (height - LINE * size) // 2, text, INK, size)

    return Block(width_of(text, size) + 4 * size, height, draw)


def _bar(
    value: int, top: int, falls: bool, size: int, canvas: Canvas, x: int, y: int
) -> None:  # fmt: skip
    """A meter, divided into cells if they are few; one that falls goes from green to red."""
    width, height = 70 * size, 9 * size
    share = min(1.0, max(0.0, value / top)) if top else 0.0
    colour = ACCENT
    if falls:
        colour = GREEN if share > 0.5 else YELLOW if share > 0.25 else RED
    canvas.rectangle(x, y + size, width, height, GROUND, 2 * size)
    canvas.rectangle(x, y + size, round(width * share), height, colour, 2 * size)
    if 1 < top <= MOST_CELLS:
        for n in range(1, top):
            canvas.rectangle(x + width * n // top, y + size, 1, height, PANEL)


def _disc(size: int, full: bool) -> Block:
    def draw(canvas: Canvas, x: int, y: int) -> None:
        canvas.rectangle(x, y, 9 * size, 9 * size, YELLOW if full else MUTED, 9 * size // 2)
        if not full:
            canvas.rectangle(x + size, y + size, 7 * size, 7 * size, PANEL, 7 * size // 2)

    return Block(9 * size, 9 * size, draw)


def _card(face: str, least: int, height: int, size: int, kind: str) -> Block:
    """A card or token: face up, face down, spent (an outline), or the top of a pile."""
    edge, fill, ink = {
        "card": (DIM, FACE, FACE_INK), "token": (ACCENT, FACE, FACE_INK),
        "pile": (MUTED, BACK, INK), "back": (MUTED, BACK, ACCENT), "spent": (DIM, PANEL, DIM),
    }[kind]  # fmt: skip
    width, height = max(least * size, width_of(face, size) + 6 * size), height * size

    def draw(canvas: Canvas, x: int, y: int) -> None:
        canvas.rectangle(x, y, width, height, edge, 2 * size)
        inner = width - 2 * size, height - 2 * size
        canvas.rectangle(x + size, y + size, *inner, fill, size)
        if kind == "back":
            for down in range(3 * size, height - 4 * size, 4 * size):
                for right in range(3 * size, width - 4 * size, 4 * size):
                    canvas.rectangle(x + right, y + down, 2 * size, 2 * size, ink)
        middle = x + (width - width_of(face, size)) // 2
        canvas.text(middle, y + (height - LINE * size) // 2, face, ink, size)

    return Block(width, height, draw)


def _die(face: str, size: int) -> Block:
    """A die with pips, or with its face as text if it has none."""
    if face not in SPOTS:
        return _card(face, 24, 24, size, "card")

    def draw(canvas: Canvas, x: int, y: int) -> None:
        canvas.rectangle(x, y, 24 * size, 24 * size, FACE, 4 * size)
        for spot in SPOTS[face]:
            right, down = 4 + 6 * (spot % 3), 4 + 6 * (spot // 3)
            canvas.rectangle(
                x + right * size, y + down * size, 4 * size, 4 * size, FACE_INK, 2 * size
            )

    return Block(24 * size, 24 * size, draw)
