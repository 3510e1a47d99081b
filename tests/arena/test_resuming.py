"""What a tournament goes on with: more pairs, more players, the same programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from duels.arena.archive import Archive
from duels.arena.program_digest import digest_of
from duels.arena.records import record
from duels.arena.schedule import chunks
from duels.core.errors import OptionError
from duels.core.game import Pick
from tests.arena.helpers import HERE, contents, make_tournament, played
from tests.arena.test_command import ENV, ROOT, SMALL, duels

BOT = """import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        print(json.dumps({"type": "ready"}), flush=True)
    elif asked["type"] == "choose":
        move = asked["view"]["options"][INDEX]
        print(json.dumps({"type": "move", "move": move}), flush=True)
"""
NOTHING_NEW = "games were played before; nothing new was played"


def wrote(path: Path, index: int) -> str:
    path.write_text(BOT.replace("INDEX", str(index)))
    return f"{sys.executable} {path}"


@pytest.mark.slow
def test_an_edited_bot_is_played_anew(tmp_path: Path) -> None:
    """The same command after an edit gives new games, and says when there are none."""
    bot = tmp_path / "bot.py"
    words = ("arena", wrote(bot, 0), "greedy", "--games", "number-wars", "-n", "5", "--json")

    def moves() -> list[str]:
        """What the bot has played in the first game of the last command."""
        done = duels(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert NOTHING_NEW not in done.stderr
        folder = done.stderr.splitlines()[0].rpartition("results go to ")[2]
        with Archive.open(str(tmp_path / folder)) as archive:
            match = record(archive, 1)
        picks = [entry.moves for entry in match.events if isinstance(entry, Pick)]
        return [move for moves in picks for seat, move in moves if seat == 0]

    assert moves()[0] == "1"
    again = duels(*words, cwd=tmp_path)
    assert f"All 10 {NOTHING_NEW}. Use --fresh to play them again." in again.stderr
    wrote(bot, -1)
    assert moves()[0] != "1"


@pytest.mark.slow
def test_an_edited_bot_is_refused_in_a_folder_that_was_named(tmp_path: Path) -> None:
    bot, out = tmp_path / "bot.py", str(tmp_path / "cup")
    words = ("arena", wrote(bot, 0), "greedy", "--games", "number-wars", "-n", "5")
    assert duels(*words, "--out", out).returncode == 0
    before = contents(tmp_path / "cup")
    wrote(bot, -1)
    done = duels(*words, "--out", out)
    assert done.returncode == 2
    assert "bot.py has changed since; choose another --out, or use --fresh" in done.stderr
    assert contents(tmp_path / "cup") == before
    assert duels(*words, "--out", out, "--fresh").returncode == 0
    assert contents(tmp_path / "cup") != before


@pytest.mark.slow
def test_an_edited_class_is_played_anew(tmp_path: Path) -> None:
    text = (
        "from duels.core.player import Player\n"
        "class Bot(Player):\n"
        "    def choose(self, view):\n"
        "        return view.options[INDEX]\n"
    )
    words = ("arena", "mybot:Bot", "greedy", "--games", "number-wars", "-n", "5")
    for index in ("0", "-1"):
        (tmp_path / "mybot.py").write_text(text.replace("INDEX", index))
        done = duels(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert NOTHING_NEW not in done.stderr
    assert len(list(tmp_path.glob("arena-*"))) == 2


@pytest.mark.parametrize(
    "words", ["{0}", "-u {0}", "{0} --verbose", "-m bot", "bot", "x.py --w={0}"]
)
def test_a_digest_follows_the_files_a_command_names(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "bot"
    folder.mkdir()
    path = folder / "__main__.py"
    name = f"{sys.executable} {words.format(path)}"
    wrote(path, 0)
    one = digest_of(name)
    assert digest_of(name) == one
    wrote(path, -1)
    assert digest_of(name) != one


@pytest.mark.parametrize("name", ["{python} bots/bot.py", "./bots/script", "bots.bot:Bot"])
def test_a_digest_follows_the_modules_that_are_imported(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change is found without running a program."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "bots"
    folder.mkdir()
    text = "import sys\nimport numpy\nfrom bots import helper as a\nimport helper\nsys.exit(1)\n"
    (folder / "bot.py").write_text(text)
    (folder / "script").write_text(f"#!/usr/bin/env python3\n{text}")
    (folder / "script").chmod(0o755)
    (folder / "helper.py").write_text("from . import deeper\nimport deeper\n")
    digests = []
    for number in range(3):
        (folder / "deeper.py").write_text(f"N = {min(number, 1)}\n")
        digests.append(digest_of(name.format(python=sys.executable)))
    assert digests[0] != digests[1] == digests[2]
    (folder / "other.py").write_text("")
    assert digest_of(name.format(python=sys.executable)) == digests[2]


@pytest.mark.slow
def test_fresh_starts_over_and_puts_the_old_games_aside(tmp_path: Path) -> None:
    out = tmp_path / "cup"
    assert duels(*SMALL, "--out", str(out)).returncode == 0
    before = contents(out)
    done = duels(*SMALL, "--out", str(out), "--fresh")
    assert done.returncode == 0
    assert NOTHING_NEW not in done.stderr
    assert contents(out) != before
    (out / "games.sqlite").unlink()
    (out / "games-old.sqlite").rename(out / "games.sqlite")
    assert contents(out) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("players", "counts"),
    [
        ("greedy random", (3, 7, 8, 20)),
        ("greedy random", (12, 13, 12)),
        ("random Counts", (5, 10)),
    ],
)
def test_more_pairs_give_what_all_at_once_give(
    tmp_path: Path, players: str, counts: tuple[int, ...]
) -> None:
    tournament = make_tournament(players, "firewall-breach digit-duel")
    for pairs in counts:
        found = played(tmp_path / "parts", tournament._replace(pairs=pairs), pairs=pairs)
    whole = played(tmp_path / "whole", tournament._replace(pairs=max(counts)))
    assert [encounter.results for encounter in found] == [encounter.results for encounter in whole]


def test_fewer_pairs_play_nothing_and_lose_nothing(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "cup"))
    assert duels(*SMALL, *out).returncode == 0
    before = contents(tmp_path / "cup")
    done = duels(*SMALL[:-1], "3", *out)
    assert done.returncode == 0
    assert f"All 16 {NOTHING_NEW}" in done.stderr
    assert contents(tmp_path / "cup") == before


@pytest.mark.slow
@pytest.mark.parametrize("gauntlet", [False, True])
def test_more_players_keep_the_games_of_the_others(tmp_path: Path, gauntlet: bool) -> None:
    few = make_tournament("greedy random", "digit-duel firewall-breach", 5, gauntlet=gauntlet)
    before = played(tmp_path, few)
    kept = {done.results for done in contents(tmp_path)}
    many = few._replace(players=(few.players[0], HERE + "Last", few.players[1], "easy"))
    with Archive.begin(str(tmp_path), many) as archive:
        assert archive.tournament.players[:2] == ("greedy", "random")
        assert len(archive.tournament.players) == 4
        assert {done.results for done in archive.everything()} == kept
        left = sum(chunk.games for chunk in chunks(archive.tournament, archive.chunks()))
        assert left == 10 * 2 * (2 if gauntlet else 5)
    found = played(tmp_path, many)
    for encounter in before:
        (same,) = (it for it in found if it.game == encounter.game and it.pairing == 0)
        assert [game.score for game in same.results] == [game.score for game in encounter.results]
    assert all(len(encounter.results) == 10 for encounter in found)
    with Archive.open(str(tmp_path)) as archive:
        for number in range(1, 25):
            match, place = record(archive, number), archive.tournament.game_index(number)
            pairing = [
                archive.tournament.players[n] for n in archive.tournament.pairings[place.pairing]
            ]
            assert sorted(match.players) == sorted(pairing)
            assert match.about["arena"]["number"] == number


def test_fewer_players_are_refused(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random Last", "digit-duel", pairs=1)
    played(tmp_path, tournament)
    with pytest.raises(OptionError, match="Last played there as well"):
        Archive.begin(str(tmp_path), make_tournament("greedy random", "digit-duel", pairs=1))
    played(tmp_path, tournament)  # what was refused holds no lock


def test_another_first_player_of_a_gauntlet_is_refused(tmp_path: Path) -> None:
    tournament = make_tournament("greedy random", "digit-duel", pairs=1, gauntlet=True)
    played(tmp_path, tournament)
    with pytest.raises(OptionError, match="greedy was the first player"):
        Archive.begin(str(tmp_path), tournament._replace(players=("random", "greedy")))


def test_the_number_of_new_games_is_said(tmp_path: Path) -> None:
    for pairs, said in (("4", ""), ("9", "8 games were played before, 10 are new.")):
        done = duels(*SMALL[:-1], pairs, cwd=tmp_path, env={**ENV, "PYTHONPATH": str(ROOT)})
        assert done.returncode == 0
        assert said in done.stderr
    assert len(list(tmp_path.iterdir())) == 1
