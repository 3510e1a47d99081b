"""Table files: what is written is read, and nothing else passes for it."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest

from duels.algorithms import tables
from duels.algorithms.table_solution import TableSolution
from duels.algorithms.tables import TableError
from duels.core.game import AnyGame
from duels.games import load
from duels.games.digit_duel import solver as digit_duel
from duels.games.number_clash import solver as number_clash

pytestmark = pytest.mark.slow

needs_numba = pytest.mark.extra("solve")
KIND = "test 1"
PAYLOAD = bytes(range(200))


@pytest.fixture(autouse=True)
def own_data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def game() -> AnyGame:
    return load("digit-duel", digits=3, life="2/3")


def test_what_is_stored_is_found(game: AnyGame) -> None:
    assert tables.find_table(game, KIND) is None
    path = tables.store(game, PAYLOAD, KIND, facts={"states": 7})
    assert path == tables.cached_path(game)
    table = tables.find_table(game, KIND)
    assert table is not None
    assert bytes(table.payload) == PAYLOAD
    assert table.payload.readonly
    assert table.facts == {"states": 7}
    assert table.settings == {"life": "2/3", "digits": "3", "hidden": "no"}


def test_one_table_serves_either_first_player(game: AnyGame) -> None:
    other = load("digit-duel", digits=3, life="2/3", first=1)
    tables.store(game, PAYLOAD, KIND)
    assert tables.cached_path(game) == tables.cached_path(other)
    assert tables.find_table(other, KIND) is not None


def test_other_settings_have_other_files(game: AnyGame) -> None:
    tables.store(game, PAYLOAD, KIND)
    for other in (load("digit-duel", digits=3, life="3/2"), load("number-clash", numbers=3)):
        assert tables.cached_path(other) != tables.cached_path(game)
        assert tables.find_table(other, KIND) is None


def test_a_table_of_other_settings_is_refused(game: AnyGame, tmp_path: Path) -> None:
    path = tables.store(game, PAYLOAD, KIND, str(tmp_path / "own"))
    assert bytes(tables.load(path, game, KIND).payload) == PAYLOAD
    with pytest.raises(TableError, match=r"holds test 1 of digit-duel with life=2/3.*expected"):
        tables.load(path, load("digit-duel"), KIND)
    with pytest.raises(TableError, match="expected test 2"):
        tables.load(path, game, "test 2")


def test_the_payload_is_aligned(game: AnyGame, tmp_path: Path) -> None:
    for length in range(9):
        path = tables.store(game, PAYLOAD, KIND, str(tmp_path / "t"), {"note": "x" * length})
        assert Path(path).read_bytes().index(PAYLOAD) % 8 == 0


def test_an_empty_payload_is_a_payload(game: AnyGame) -> None:
    tables.store(game, b"", KIND)
    table = tables.find_table(game, KIND)
    assert table is not None
    assert len(table.payload) == 0


def test_any_damaged_byte_is_noticed(game: AnyGame, tmp_path: Path) -> None:
    whole = Path(tables.store(game, PAYLOAD, KIND)).read_bytes()
    path = tmp_path / "damaged"
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(TableError, match=r"damaged|not a table|does not have format version"):
            tables.load(str(path), game, KIND)


@pytest.mark.parametrize("length", [0, 5, 8, 47, 48, 60, 300])
def test_a_file_cut_short_is_noticed(game: AnyGame, tmp_path: Path, length: int) -> None:
    whole = Path(tables.store(game, PAYLOAD, KIND)).read_bytes()
    assert len(whole) > length
    path = tmp_path / "short"
    path.write_bytes(whole[:length])
    with pytest.raises(TableError):
        tables.open_table(str(path))


def test_a_damaged_table_is_an_error_and_an_outdated_one_is_missing(game: AnyGame) -> None:
    path = Path(tables.store(game, PAYLOAD, KIND))
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"?")
    with pytest.raises(TableError, match="checksum"):
        tables.find_table(game, KIND)
    path.write_bytes(whole[:8] + struct.pack("<I", tables.VERSION + 1) + whole[12:])
    assert tables.find_table(game, KIND) is None
    path.write_bytes(whole)
    assert tables.find_table(game, "test 2") is None


def test_a_missing_file_is_said_plainly(game: AnyGame, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="cannot be read"):
        tables.load(str(tmp_path / "none"), game, KIND)


def test_writing_is_all_or_nothing(game: AnyGame, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tables.store(game, PAYLOAD, KIND)

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TableError, match="No space left"):
        tables.store(game, PAYLOAD * 2, KIND)
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]
    table = tables.find_table(game, KIND)
    assert table is not None
    assert bytes(table.payload) == PAYLOAD


def test_an_open_table_survives_its_replacement(game: AnyGame) -> None:
    tables.store(game, PAYLOAD, KIND)
    table = tables.find_table(game, KIND)
    tables.store(game, PAYLOAD[::-1], KIND)
    assert table is not None
    assert bytes(table.payload) == PAYLOAD


# The shipped tables

SHIPPED: list[tuple[str, Any, int]] = [
    ("number-clash", number_clash, 3_000_000),
    ("digit-duel", digit_duel, 600_000),
]


def shipped_at(game: AnyGame) -> str:
    path = tables.shipped_path(game)
    assert path is not None
    return path


@pytest.mark.parametrize(("slug", "module", "most"), SHIPPED)
def test_shipped_tables_are_sound_and_small(slug: str, module: Any, most: int) -> None:
    game = load(slug)
    table = tables.load(shipped_at(game), game, module.KIND)
    assert len(table.payload) < most
    assert table.facts["gap"] < 1e-9


def test_shipped_tables_are_for_the_default_rules_only() -> None:
    assert number_clash.stored_values(load("number-clash", points=2)) is None
    assert digit_duel.stored_values(load("digit-duel", hidden=True)) is None
    assert digit_duel.stored_values(load("digit-duel", digits=8)) is None
    lower = load("digit-duel", life="3/8")
    assert digit_duel.stored_values(lower) is not None, "lower lives are in it"


@pytest.mark.slow
@needs_numba
def test_digit_duel_is_rebuilt_byte_for_byte(tmp_path: Path) -> None:
    game = load("digit-duel")
    solved = digit_duel.solve(game)
    path = tables.store(game, solved.payload, digit_duel.KIND, str(tmp_path / "t"), solved.facts())
    assert Path(path).read_bytes() == Path(shipped_at(game)).read_bytes()


@pytest.mark.long
@pytest.mark.slow
@needs_numba
def test_number_clash_is_rebuilt_within_rounding() -> None:
    game = load("number-clash")
    shipped = tables.load(shipped_at(game), game, number_clash.KIND).payload
    rebuilt = number_clash.solve(game).payload
    assert len(rebuilt) == len(shipped)
    start = number_clash.NumberClashTable(game, shipped)._values_at
    assert rebuilt[:start] == shipped[:start]
    values = zip(
        struct.iter_unpack("<d", shipped[start:]),
        struct.iter_unpack("<d", rebuilt[start:]),
        strict=True,
    )
    assert max(abs(old - new) for (old,), (new,) in values) < 1e-12


@needs_numba
@pytest.mark.parametrize(
    ("module", "kind", "options"),
    [
        (number_clash, number_clash.NumberClashSolution, {"numbers": 4, "points": 2}),
        (digit_duel, digit_duel.DigitDuelSolution, {"digits": 4, "life": 3}),
        (digit_duel, digit_duel.DigitDuelSolution, {"digits": 3, "life": "60/55", "first": 1}),
        (digit_duel, digit_duel.DigitDuelSolution, {"digits": 3, "life": 3, "hidden": True}),
    ],
)
def test_a_variant_is_solved_kept_and_found(
    module: Any, kind: type[TableSolution], options: dict[str, object]
) -> None:
    slug = "number-clash" if module is number_clash else "digit-duel"
    game = load(slug, **options)
    assert module.stored_values(game) is None
    path, solved = kind.unopened(game).make()
    table = tables.open_table(path)
    assert table is not None
    assert table.facts == {"states": solved.states, "gap": solved.gap}
    assert 0 <= module.stored_values(game).value(game.start()) <= 1
