"""Finding a game by its name, and games of other packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from duels.core.errors import UnknownName
from duels.games import BUILT_IN, find, load


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("firewall-breach", "firewall-breach"),
        ("fire", "firewall-breach"),
        ("Cipher Siege", "cipher-siege"),
        ("number_c", "number-clash"),
        ("wars", "number-wars"),
        ("D", "digit-duel"),
    ],
)
def test_names_may_be_shortened(name: str, slug: str) -> None:
    assert find(name).slug == slug


def test_unknown_and_ambiguous_names_say_what_there_is() -> None:
    with pytest.raises(UnknownName, match="could be number-clash or number-wars"):
        find("number")
    for wrong in ("", "poker", "x" * 500):
        with pytest.raises(UnknownName, match="choose from firewall-breach, number-clash"):
            find(wrong)


def test_the_catalogue_is_true() -> None:
    for slug in BUILT_IN:
        game = load(slug)
        assert game.slug == slug
        assert game.title.lower().replace(" ", "-") == slug
        assert game.summary
        assert game.rules


def test_a_game_of_another_package_is_found(tmp_path: Path) -> None:
    """A real installed distribution with an entry point, seen by the real command."""
    (tmp_path / "coin.py").write_text(
        "from duels.games.number_wars.rules import NumberWars\n"
        "class CoinWars(NumberWars):\n"
        "    slug, title, summary = 'coin-wars', 'Coin Wars', 'A game from elsewhere.'\n"
    )
    info = tmp_path / "coin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: coin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[duels.games]\ncoin-wars = coin:CoinWars\n")
    root = Path(__file__).parent.parent.parent
    environment = {"PYTHONPATH": f"{root}:{tmp_path}"}
    for arguments in (["games"], ["rules", "coin"], ["play", "coin-w", "--p1", "r", "--p2", "r"]):
        done = subprocess.run(
            [sys.executable, "-m", "duels", *arguments],
            env=environment, capture_output=True, text=True, check=True, cwd=tmp_path,
        )  # fmt: skip
        assert "Coin Wars" in done.stdout or "coin-wars" in done.stdout
