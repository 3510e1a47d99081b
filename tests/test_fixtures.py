"""Stored formats stay readable: records, stores, a tournament, a training and shipped values."""

from __future__ import annotations

import gzip
import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from duels.algorithms import solve
from duels.cli.main import main
from duels.core import Match
from duels.core.record import read
from duels.games import catalogue, load

FIXTURES = Path(__file__).parent / "fixtures"
RECORDS = sorted((FIXTURES / "records").glob("*.json"))


def test_every_game_has_records() -> None:
    assert {path.stem.rpartition("-")[0] for path in RECORDS} == set(catalogue())


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_records_load_with_the_same_result(path: Path) -> None:
    told = json.loads(path.read_text("utf-8"))
    match = read(str(path), load)
    assert len(match.events) == len(told["entries"])
    if told["result"] is None:
        assert match.result is None
    else:
        assert match.result is not None
        winner = told["result"]["winner"]
        assert match.result.winner == (None if winner is None else winner - 1)


@pytest.mark.parametrize("slug", catalogue())
def test_shipped_tables_give_the_same_values(slug: str) -> None:
    rows = json.loads(gzip.decompress((FIXTURES / "values.json.gz").read_bytes()))[slug]
    game = load(slug)
    solution = solve(game)
    for row in rows:
        match = Match(game, row["seed"])
        for picks in row["moves"]:
            for player, move in enumerate(picks):
                if move is not None:
                    match.submit(player, move)
        found = solution.assess(match.view(row["player"] - 1))
        assert _close(found.value, row["value"])
        assert found.options.keys() == row["options"].keys()
        assert all(_close(found.options[move], value) for move, value in row["options"].items())
        assert found.mixed_strategy == pytest.approx(row["strategy"], abs=1e-9)


def _close(found: Any, expected: float | None) -> bool:
    if found is None or expected is None:
        return found is expected
    return abs(float(found) - expected) < 1e-9


@pytest.mark.extra("solve")
def test_a_tournament_is_read_and_its_games_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from duels.arena.archive import Archive
    from duels.arena.summary import summary

    folder = tmp_path / "arena"
    shutil.copytree(FIXTURES / "arena", folder)
    expected = json.loads((folder / "expected.json").read_text("utf-8"))
    with Archive.open(str(folder)) as archive:
        found = summary(archive.tournament, archive.encounters())
        scores = {
            setting.slug: {row.player: row.score.mean for row in game.standings}
            for setting, game in zip(archive.tournament.games, found.games, strict=True)
        }
        assert sum(chunk.games for chunk in archive.chunks()) == expected["played"]
    assert scores == {
        slug: pytest.approx(by_player) for slug, by_player in expected["scores"].items()
    }
    for number in (1, 40, 108):
        assert main(["replay", f"{folder}#{number}"]) == 0
        assert capsys.readouterr().out


@pytest.mark.extra("solve")
def test_a_training_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And saved again with the same contents."""
    np = pytest.importorskip("numpy", reason="needs the extra: pip install 'duels[solve]'")
    pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")
    from duels.games.cipher_siege.rules import CipherSiege
    from duels.games.cipher_siege.training.run import Trainer

    expected = json.loads((FIXTURES / "training" / "expected.json").read_text("utf-8"))
    monkeypatch.setattr(Trainer, "run", lambda self, iterations: None)  # or it is compiled
    path, again = tmp_path / "checkpoint.npz", tmp_path / "again.npz"
    path.write_bytes(gzip.decompress((FIXTURES / "training/checkpoint.npz.gz").read_bytes()))
    run = Trainer.load(CipherSiege(**expected["options"]), expected["seed"], str(path))
    assert run.iterations == expected["iterations"]
    run.save(str(again))
    with np.load(path) as before, np.load(again) as after:
        assert set(before.files) == set(after.files)
        assert all((before[name] == after[name]).all() for name in before.files)


@pytest.mark.extra("solve")
@pytest.mark.long
def test_a_training_goes_on_as_it_would_have(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy", reason="needs the extra: pip install 'duels[solve]'")
    pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")
    from duels.games.cipher_siege.rules import CipherSiege
    from duels.games.cipher_siege.training.run import Trainer

    expected = json.loads((FIXTURES / "training" / "expected.json").read_text("utf-8"))
    path = tmp_path / "checkpoint.npz"
    path.write_bytes(gzip.decompress((FIXTURES / "training/checkpoint.npz.gz").read_bytes()))
    run = Trainer.load(CipherSiege(**expected["options"]), expected["seed"], str(path))
    assert run.iterations == expected["iterations"]
    run.run(expected["after"] - expected["iterations"])
    run.save(str(path))
    digest = sha256()
    with np.load(path) as data:
        for name in ("keys", "where", "pool", "rng", "count"):
            digest.update(np.ascontiguousarray(data[name]).tobytes())
    assert digest.hexdigest() == expected["digest_after"]
