"""The files of the client: small, whole, from nowhere else, and what is vendored is as it was."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

from duels.games import BUILT_IN, specs

STATIC = Path(__file__).parents[3] / "duels" / "server" / "static"
OWN = [
    path
    for path in sorted(STATIC.rglob("*"))
    if path.suffix in (".js", ".css", ".html", ".json") and path.parent.name != "vendor"
]


def test_vendored_modules_are_what_their_checksums_say() -> None:
    vendor = STATIC / "vendor"
    lines = [line.split() for line in (vendor / "SHA256SUMS").read_text().splitlines()]
    sums = {name: digest for digest, name in lines}
    assert sums == {
        path.name: sha256(path.read_bytes()).hexdigest() for path in vendor.glob("*.js")
    }
    told = (vendor / "README.md").read_text()
    for name in sums:
        assert name in told
    for licence in re.findall(r"`(LICENSE-\w+)`", told):
        assert (vendor / licence).is_file()


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.relative_to(STATIC).as_posix())
def test_no_file_of_the_client_asks_another_host_or_names_a_game(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|\bstyle=\"|\son\w+=\"|\beval\(|innerHTML", text)
    if path.parent.name != "themes":
        assert not any(slug in text for slug in BUILT_IN)


def test_every_theme_has_its_style_sheet_and_its_picture() -> None:
    themed = [spec for spec in specs().values() if spec.theme]
    assert len(themed) >= len(BUILT_IN)
    for spec in themed:
        folder = Path(spec.folder(spec.theme))
        assert (folder / "theme.json").is_file()
        assert (folder / "theme.css").is_file()
        assert (folder / "picture.svg").is_file()


def test_all_modules_of_the_first_page_are_asked_for_at_once() -> None:
    found: set[str] = set()

    def walk(name: str) -> None:
        if name not in found:
            found.add(name)
            text = (STATIC / "js" / name).read_text(encoding="utf-8")
            for other in re.findall(r"^(?:import|export)[^;]*? from '\./([\w-]+\.js)'", text, re.M):
                walk(other)

    walk("app.js")
    index = (STATIC / "index.html").read_text(encoding="utf-8")
    preloaded = re.findall(r'<link rel="modulepreload" href="/static/js/([\w-]+\.js)">', index)
    assert sorted(preloaded) == sorted(found - {"app.js"})
