"""`duels verify`: what a record proves, in words and as JSON."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from duels.cli.main import main
from duels.core import Match
from duels.core.chance import commitment
from duels.core.commitment import KEY, new_nonce, new_secret, nonce_hash, seed_proof, shared_seed
from duels.core.commitment_client import COMMIT, REVEAL, CommitmentClient
from duels.core.record import save
from duels.games import load

ID = "A" * 22
SECRET = new_secret()
PUBLISHED = commitment(SECRET) or ""
NONCES = new_nonce(), new_nonce()
HASHES = [nonce_hash(ID, n, PUBLISHED, nonce) for n, nonce in enumerate(NONCES)]


def played(path: Path, seed: int, fair: dict[str, Any] | None = None) -> str:
    match = Match(load("firewall-breach"), seed, id=ID, about={KEY: fair} if fair else {})
    luck = random.Random(1)
    while match.result is None:
        match.submit(match.deciders[0], luck.choice(("attack", "bypass")))
    save(match, str(path))
    return str(path)


def shared(path: Path, nonces: tuple[str, str] = NONCES, hashes: Any = HASHES) -> str:
    return played(path, shared_seed(SECRET, nonces), seed_proof(SECRET, nonces, hashes))


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_local_record_verifies_and_says_that_the_seed_may_have_been_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = played(tmp_path / "local.json", 7)
    assert main(["verify", file]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "chance events follow from the seed" in said
    assert "not that the seed was chosen fairly" in said
    text = Path(file).read_text("utf-8")
    Path(file).write_text(text.replace('"outcome": "', '"outcome": "9'), "utf-8")
    assert main(["verify", file]) == 1


def test_a_local_match_that_is_not_over_verifies_as_far_as_it_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = Match(load("firewall-breach"), 7)
    match.submit(0, "attack")
    save(match, str(tmp_path / "x.json"))
    assert main(["verify", str(tmp_path / "x.json")]) == 0
    assert "1 chance event follows from the seed" in capsys.readouterr().out


def test_a_record_without_hashes_verifies_with_a_weaker_statement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = shared(tmp_path / "old.json", hashes=None)
    assert main(["verify", file]) == 0
    assert "has no hashes of the nonces" in " ".join(capsys.readouterr().out.split())
    assert main(["verify", file, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seed"] == "shared without hashes"


def test_json_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", shared(tmp_path / "new.json"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["seed"] == "shared"
    assert answer["chance_events"] > 0
    assert "2 nonces match their hashes" in answer["proved"][0]
    assert main(["verify", played(tmp_path / "local.json", 7), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seed"] == "local"


def test_what_was_seen_before_the_match_must_be_in_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = shared(tmp_path / "new.json")
    assert main(["verify", file, "--saw", PUBLISHED, "--saw", HASHES[1]]) == 0
    assert "published before the match" in " ".join(capsys.readouterr().out.split())
    other = new_nonce()  # found by a search once the opponent's was known
    hashes = [HASHES[0], nonce_hash(ID, 1, PUBLISHED, other)]
    forged = shared(tmp_path / "forged.json", (NONCES[0], other), hashes)
    assert main(["verify", forged]) == 0  # the record alone cannot tell
    capsys.readouterr()
    assert main(["verify", forged, "--saw", HASHES[1]]) == 1
    errors = capsys.readouterr().err
    assert len(errors.splitlines()) == 1
    assert "changed after you saw" in errors
    kept_nonce = shared(tmp_path / "kept.json", (NONCES[0], other), HASHES)
    assert main(["verify", kept_nonce]) == 1
    assert "Player 2 does not match its hash" in capsys.readouterr().err


@pytest.mark.extra("web")
def test_what_a_client_on_this_machine_kept_is_compared(
    tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from duels.client.nonces import save

    both = [COMMIT, REVEAL]
    save(CommitmentClient(ID, 0, PUBLISHED, NONCES[0], HASHES, sent=both, granted=both))
    (kept,) = (home / "duels" / "dice").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    assert main(["verify", shared(tmp_path / "new.json")]) == 0
    assert "published before the match" in " ".join(capsys.readouterr().out.split())
    other = new_nonce()
    hashes = [HASHES[0], nonce_hash(ID, 1, PUBLISHED, other)]
    assert main(["verify", shared(tmp_path / "forged.json", (NONCES[0], other), hashes)]) == 1
    assert "hashes differ" in capsys.readouterr().err
    kept.write_text("{", "ascii")
    assert main(["verify", shared(tmp_path / "new.json")]) == 1
    assert "cannot be read" in capsys.readouterr().err
