"""The pages are true: their examples run, their commands exist, their links lead somewhere."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from duels.cli.main import main

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
# Pages whose code other tests run, and those whose code needs an extra.
ELSEWHERE = {
    "first-bot.md", "train-and-measure.md",  # tests/test_tutorials.py
    "add-a-game.md",  # tests/plugins/test_tutorial.py
    "bots.md",  # tests/players/test_external.py
    "gymnasium.md", "pettingzoo.md", "openspiel.md",  # tests/envs/test_pages.py
    "vector.md",  # tests/envs/test_vector_env.py
}  # fmt: skip
EXTRAS = {"measure-a-policy.md": "torch", "training-recipes.md": "torch", "pgx.md": "jax"}
FENCED = re.compile(r"^ *```(\w*)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, *languages: str) -> list[str]:
    """The blocks of code of a page in one of the languages."""
    found = FENCED.findall(page.read_text(encoding="utf-8"))
    return [text for language, text in found if language in languages]


def commands(page: Path) -> Iterator[list[str]]:
    """The words of each command line in the blocks of a page."""
    for block in blocks(page, "", "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            for part in line.strip().removeprefix("$ ").split(" && "):
                if part.startswith(("duels ", "python3 ", "python ", "pip ")):
                    part = part.partition(" > ")[0].replace("DIR#", "DIR%")
                    yield shlex.split(part, comments=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Path) -> None:
    assert doctest.testfile(str(page), module_relative=False).failed == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.extra(extra)) for name, extra in EXTRAS.items()]
)
def test_code_that_needs_an_extra_runs(name: str) -> None:
    (page,) = (page for page in PAGES if page.name == name)
    code = [text for text in blocks(page, "python") if ">>>" not in text]
    assert code
    for text in code:
        exec(compile(text, name, "exec"), {"__name__": "page"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_code_is_left_out(page: Path) -> None:
    if page.name not in ELSEWHERE | {*EXTRAS}:
        assert all(">>>" in text for text in blocks(page, "python", "py", "js"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_exist(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of the program are parsed, extras are declared, options of scripts are in them."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for words in commands(page):
        line = " ".join(words)
        if words[:3] == ["python3", "-m", "duels"] or words[0] == "duels":
            arguments = words[1:] if words[0] == "duels" else words[3:]
            if "..." not in arguments:
                assert parsed(arguments, monkeypatch), line
        elif words[1:2] and words[1].endswith(".py"):
            script = ROOT / words[1]
            assert script.exists() or page.parent.name == "tutorials", line
            text = script.read_text(encoding="utf-8") if script.exists() else ""
            flags = [word for word in words[2:] if word.startswith("--")]
            assert all(flag.strip("-") in text for flag in flags), line
        for extra in re.findall(r"(?:duels|\.)\[([\w,]+)\]", line):
            assert {*extra.split(",")} <= {*declared}, line


def parsed(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the command line takes these arguments; no command is run."""
    monkeypatch.setattr("duels.cli.main.import_module", lambda _: Nothing())
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return main(arguments) == 0
        except SystemExit as left:
            return left.code == 0


class Nothing:
    """A module in which every command does nothing."""

    def __getattr__(self, name: str) -> object:
        return lambda terminal, given: 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) + re.findall(
        r'src="([^":]+)"', text
    ):
        if target.endswith("command-line.md"):
            continue  # tools/docs_site.py makes it
        assert (page.parent / target).exists(), f"{page.name}: {target}"
