"""`duels positions`: files that other programs read."""

from __future__ import annotations

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from duels.algorithms import solve
from duels.analysis.datasets import positions
from duels.cli.main import main
from duels.core.extras import install_command
from duels.games import load
from tests.plugins import install


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["positions", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_json_lines_go_to_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "firewall", "-n", "5", "--out", "-", "--seed", "3")
    assert status == 0
    told = [json.loads(line) for line in out.splitlines()]
    wanted = list(positions(load("firewall-breach"), 5, seed=3))
    assert [line["observation"] for line in told] == [list(p.observation) for p in wanted]
    assert {line["player"] for line in told} == {1, 2}
    for line, position in zip(told, wanted, strict=True):
        about = [line[name] for name in ("format", "version", "game", "options")]
        game = load("firewall-breach")
        assert about == ["duels positions", 1, "firewall-breach", game.settings()]
        own = position.player_value
        assert line["player_value"] == own
        assert line["player_worth"] == list(position.player_worth)
        assert line["mix"] == list(position.mixed_strategy)
        assert line["value"] == (own if line["player"] == 1 else 1 - own), "Player 1's"
        assert line["value"] == pytest.approx(float(solve(game).value(position.state)))
        assert line["state"]["mover"] == line["player"], "players are 1 and 2"


@pytest.mark.extra("solve")
def test_arrays_hold_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    np = pytest.importorskip("numpy", reason="needs the extra: pip install 'duels[solve]'")
    path = tmp_path / "some.data"
    words = ("digit", "--set", "digits=4", "-n", "70", "--format", "npz", "--out", str(path))
    status, out, _ = run(capsys, *words)
    assert (status, out.endswith("of them for testing.\n")) == (0, True)
    found, wanted = np.load(path), list(positions(load("digit-duel", digits=4), 70))
    assert found["moves"].tolist() == ["1", "2", "3", "4"]
    about = json.loads(str(found["about"]))
    assert (about["game"], about["options"]["digits"], about["version"]) == ("digit-duel", "4", 1)
    for name in ("observation", "mask", "mix", "value", "player_value", "player_worth"):
        field = "mixed_strategy" if name == "mix" else name
        assert found[name].tolist() == [
            list(v) if isinstance(v := getattr(p, field), tuple) else v for p in wanted
        ]
    assert found["test"].tolist() == [p.split == "test" for p in wanted]


@pytest.mark.extra("parquet")
def test_a_table_holds_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    parquet: Any = importlib.import_module("pyarrow.parquet")
    path = tmp_path / "positions.parquet"
    assert run(capsys, "number-wars", "-n", "9", "--format", "parquet", "--out", str(path))[0] == 0
    found = parquet.read_table(path)
    assert json.loads(found.schema.metadata[b"game"]) == "number-wars"
    assert json.loads(found.schema.metadata[b"version"]) == 1
    table = found.to_pydict()
    wanted = list(positions(load("number-wars"), 9))
    assert table["value"] == [p.value for p in wanted]
    assert table["observation"] == [list(p.observation) for p in wanted]


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_a_missing_library_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "firewall", "--format", "parquet")
    assert (status, out) == (1, "")
    assert err == f"duels: pyarrow is not installed: {install_command('parquet')}\n"


def test_what_cannot_be_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, _, err = run(capsys, "cipher", "--out", "-")
    assert (status, err.count("\n")) == (1, 1)
    assert "hidden hands" in err
    status, _, err = run(capsys, "firewall", "--format", "npz", "--out", "-")
    assert status in (1, 2)
    assert err.count("\n") == 1
    path = tmp_path / "no" / "file"
    status, out, err = run(capsys, "firewall", "--out", str(path))
    assert (status, out) == (1, "")
    assert err == f"duels: cannot write {path}: No such file or directory\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("cipher", "hidden hands"),
        ("firewall --set strength=201", "solved exactly up to strength=200"),
        ("bare-goofspiel", "it does not define moves, features, encode"),
    ],
)
def test_a_game_without_positions_leaves_files_as_they_were(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    words: str, why: str,
) -> None:  # fmt: skip
    install(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "positions.jsonl"
    status, out, err = run(capsys, *words.split(), "--out", str(path))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert why in err
    assert not path.exists()
    path.write_text("kept\n")
    assert run(capsys, *words.split(), "--out", str(path))[0] == 1
    assert path.read_text() == "kept\n"


def test_a_small_game_says_that_there_are_no_more(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _, out, _ = run(capsys, "firewall", "--set", "strength=2", "-n", "50")
    assert out.startswith("firewall-breach-positions.jsonl: 4 positions, ")
    assert out.endswith("Firewall Breach has no more.\n")
