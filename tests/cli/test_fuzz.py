"""Random games and random garbage through the real terminal loop.

Whatever is typed, the loop ends as documented: the game over, EOFError or Quit. And whatever is
refused, with the reason on the screen, leaves the match as it was.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.cli.autosave import Autosave
from duels.cli.prompt import Quit
from duels.cli.table import TerminalMatch
from duels.cli.terminal import Terminal
from duels.core import Decide, Match
from duels.core.record import dumps, loads
from duels.games import load
from tests.terminal_helpers import COMMAND, PATIENCE, environment

pytestmark = pytest.mark.slow

GAMES: list[tuple[str, dict[str, object]]] = [
    ("firewall-breach", {}),
    ("number-clash", {}),
    ("number-clash", {"numbers": 3}),
    ("cipher-siege", {}),
    ("cipher-siege", {"swap": "chosen"}),
    ("cipher-siege", {"values": 2, "copies": 2, "hand": 2, "limit": 2}),
    ("digit-duel", {}),
    ("digit-duel", {"hidden": True, "first": 1}),
    ("number-wars", {"lp": 20}),
    ("number-wars", {"lp": 20, "memory": True}),
    ("number-wars", {"numbers": 3, "refresh": False}),
]


class Line(NamedTuple):
    """Something to type. A move is one of the options there are when its turn comes."""

    kind: str
    text: str = ""
    number: int = 0


def spelled(number: int, move: str) -> str:
    """A move in one of the ways in which people type it."""
    word, *rest = move.split()
    if not word.isdigit():
        word = word[: 1 + number % len(word)]
    joined = f"{word} {(', ', ' ', ',')[number % 3].join(reversed(rest))}"
    return joined.upper() if number % 2 else joined


# No option of any game begins with one of these, and no number is as large, so they are refused.
GARBAGE = st.one_of(
    st.just(""),
    st.sampled_from(
        [",", "   ", "\t,\x0b", "\x00", "-1", "+7", "1e1", "7.0", "0x7", "١", "７", "²"]
    ),
    st.sampled_from(["quit now", "undo 2", "hint?", "zzz", "\x1b[2J", "\x7f", "\u200b", "ﬀ"]),
    st.text(min_size=1).map(lambda text: "@" + text),
    st.integers(min_value=21).map(str),
    st.integers(min_value=1, max_value=20_000).map(lambda size: "x" * size),
    st.integers(min_value=5, max_value=20_000).map(lambda size: "9" * size),
)
LINES = st.one_of(
    st.integers(0, 10**6).map(lambda number: Line("move", number=number)),
    GARBAGE.map(lambda text: Line("garbage", text)),
    st.sampled_from(["?", "help", "hint", "HINT", "save"]).map(lambda text: Line("word", text)),
    st.sampled_from(["undo", "back", "cancel", "attack", "defend", "swap", "resign", "quit"]).map(
        lambda text: Line("any", text)
    ),
    st.text().map(lambda text: Line("any", text)),
    st.binary().map(lambda data: Line("any", data.decode("utf-8", "surrogateescape"))),
)


class Typist(Terminal):
    """The real terminal, with a person at the other end of its pipe who types a line for every
    question and then looks at what the line did."""

    def __init__(self, match: Match, lines: Iterator[Line]) -> None:
        self.keys, self.feed = os.pipe()
        self.screen, self.notes = StringIO(), StringIO()
        super().__init__(self.keys, self.screen, self.notes)
        self.match, self.lines = match, lines
        self.typed: Line | None = None
        self.before = self.now()
        self.shown = 0

    def now(self) -> tuple[list[Any], Any, Any, tuple[int, ...]]:
        match = self.match
        return list(match.events), match.state, match.result, match.deciders

    def ask(
        self, prompt: str, *, secret: bool = False, seconds: float | None = None,
        news: Callable[[], bool] | None = None,
    ) -> str:  # fmt: skip
        self.look()
        assert self.match.result is None, f"asked {prompt!r} after the end"
        if "take back the last move?" in prompt:
            os.write(self.feed, b"no\n")  # the other player never agrees
            return super().ask(prompt)
        self.typed = next(self.lines, None)
        self.before = self.now()
        if self.typed is None:
            self.hang_up()
        else:
            text = self.words(self.typed).replace("\n", " ")
            os.write(self.feed, text.encode("utf-8", "surrogateescape") + b"\n")
        answer = super().ask(prompt, secret=secret, seconds=seconds)
        self.shown = len(self.screen.getvalue())
        return answer

    def words(self, line: Line) -> str:
        if line.kind != "move":
            return line.text
        assert isinstance(self.match.turn, Decide)
        options = self.match.turn.options[self.match.deciders[0]]
        return spelled(line.number, options[line.number % len(options)])

    def look(self) -> None:
        """What the last line did, or did not."""
        now = self.now()
        if self.typed is None:
            return
        told = self.screen.getvalue()[self.shown :]
        if self.typed.kind == "garbage":
            assert now == self.before, self.typed
            assert told.strip(), f"no reason given for {self.typed}"
        elif self.typed.kind == "word":
            assert now == self.before, self.typed
        elif self.typed.kind == "move":
            assert now != self.before, self.typed
        # Nothing that has happened is ever rewritten.
        assert now[0][: len(self.before[0])] == self.before[0]

    def hang_up(self) -> None:
        if self.feed >= 0:
            os.close(self.feed)
            self.feed = -1

    def close(self) -> None:
        self.hang_up()
        os.close(self.keys)


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Garbage that reads `save NAME` writes there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.parametrize("examples", [120, pytest.param(800, marks=pytest.mark.long)])
def test_nothing_typed_can_break_the_loop(examples: int) -> None:
    typed = given(
        st.sampled_from(GAMES),
        st.sampled_from([("human", "human"), ("human", "random"), ("greedy", "human")]),
        st.integers(0, 2**64),
        st.lists(LINES, max_size=40),
    )(play_typed)
    settings(max_examples=examples, deadline=None)(typed)()


def play_typed(
    game: tuple[str, dict[str, object]], players: tuple[str, str], seed: int, lines: list[Line]
) -> None:
    slug, options = game
    match = Match(load(slug, **options), seed, players=players)
    typist = Typist(match, iter(lines))
    try:
        TerminalMatch(match, typist, Autosave(None, typist.note)).run()
        assert match.result is not None
    except EOFError:
        assert typist.typed is None
    except Quit:
        assert typist.typed is not None
        assert typist.typed.text.strip().lower() in ("quit", "exit")
    finally:
        typist.close()
    again = loads(dumps(match), load)
    assert (again.state, again.result, again.events) == (match.state, match.result, match.events)
    shown = typist.screen.getvalue()
    assert all(char.isprintable() or char == "\n" for char in shown)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(GAMES), st.integers(0, 2**64))
def test_moves_alone_play_to_the_end(game: tuple[str, dict[str, object]], seed: int) -> None:
    """With a legal move at every prompt every game ends, and nothing is refused on the way."""
    slug, options = game
    match = Match(load(slug, **options), seed)
    any_move = Random(seed)
    typist = Typist(match, (Line("move", number=any_move.randrange(10**6)) for _ in count()))
    try:
        TerminalMatch(match, typist, Autosave(None, typist.note)).run()
    finally:
        typist.close()
    assert match.result is not None
    assert "I don't know" not in typist.screen.getvalue()


@pytest.mark.parametrize("slug", sorted({slug for slug, _ in GAMES}))
def test_garbage_through_the_real_command(slug: str, tmp_path: Path) -> None:
    """Bytes that are no text, no end of line for a megabyte, and a line that never ends."""
    lines = [b"\xff\xfe\x00", b"7" * 2**20, "９".encode(), b"\x1b[2J\r", b"z" * 2**17]
    done = subprocess.run(
        [*COMMAND, "play", slug, "--p2", "human", "--seed", "1", "--save", "game.json"],
        input=b"\n".join(lines),
        capture_output=True,
        env=environment(tmp_path),
        cwd=tmp_path,
        timeout=PATIENCE,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stdout
    assert done.returncode == 1
    untouched = Match(load(slug), 1)
    record = loads((tmp_path / "game.json").read_text(encoding="utf-8"), load)
    assert (record.events, record.state) == (untouched.events, untouched.state)
