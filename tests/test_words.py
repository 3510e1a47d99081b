"""Words that the documentation and the texts of the program avoid, with what to write instead.

`codespell`, which CI runs, finds misspellings; this finds words that are spelt right.
"""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
EVERYWHERE = {
    "whoever|whomever|somebody|anybody|nobody|everybody": "name the role: player, client, operator",
    "usually": "for a default: (default: …); otherwise say when",
    "(is|are|was|were) said to": "state it",
    "to the last fraction": "exactly",
    "of course|obviously|needless to say": "leave it out",
}
PAGES = {
    "analyz(e|ed|es|ing)|behaviors?|colors?|centers?|centered|favorite": "British spelling",
    "(optimiz|normaliz|minimiz|maximiz|organiz|recogniz|initializ)(e|ed|es|ing|ation)": "-ise",
    "goals? (was|were|is|are)|the goals?": "state the figure",
    "(now|today|currently) (works|supported)": "describe the product as it is",
    "in earlier (runs|versions)|as before|used to be": "history belongs to docs/research",
}


def pages() -> list[Path]:
    """The pages of the documentation, except dated notes and the list of changes."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")]
    return [page for page in found if page.parent.name != "research" and "CHANGE" not in page.name]


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a page outside of code."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "", line)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of the texts, docstrings and comments of a module that has an avoided word."""
    source = path.read_text(encoding="utf-8")
    if not re.search("|".join(EVERYWHERE), source, re.IGNORECASE):
        return  # parsing takes long
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from enumerate(node.value.splitlines(), node.lineno)
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string


def findings(path: Path, lines: Iterator[tuple[int, str]], words: dict[str, str]) -> Iterator[str]:
    """Each avoided word, as `file:line: word (instead)`."""
    for number, line in lines:
        for pattern, instead in words.items():
            for found in re.finditer(rf"\b({pattern})\b", line, re.IGNORECASE):
                yield f"{path.relative_to(ROOT)}:{number}: {found[0]} ({instead})"


def test_pages_avoid_these_words() -> None:
    words = EVERYWHERE | PAGES
    assert not [text for page in pages() for text in findings(page, prose(page), words)]


def test_texts_of_the_program_avoid_these_words() -> None:
    modules = sorted(
        path for folder in ("duels", "tools", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.py")
    )  # fmt: skip
    assert not [text for path in modules for text in findings(path, texts(path), EVERYWHERE)]


def test_texts_of_the_browser_avoid_these_words() -> None:
    static = ROOT / "duels" / "server" / "static"
    files = [*static.glob("js/*.js"), static / "index.html"]
    lines = {path: enumerate(path.read_text(encoding="utf-8").splitlines(), 1) for path in files}
    assert not [text for path in files for text in findings(path, lines[path], EVERYWHERE)]


def test_a_word_is_found_with_its_place() -> None:
    lines = iter([(3, "Whoever starts"), (4, "usual words, and normalise"), (5, "to normalize")])
    assert list(findings(ROOT / "README.md", lines, EVERYWHERE | PAGES)) == [
        "README.md:3: Whoever (name the role: player, client, operator)",
        "README.md:5: normalize (-ise)",
    ]
