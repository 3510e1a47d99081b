"""The schedule of a tournament: chunks and seeds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.arena.model import GameIndex, Setting, Tournament
from duels.arena.schedule import (
    checked,
    chunks,
    compiled,
    encounter_seed,
    game_of,
    pair_seed,
    setting_of,
)
from duels.core.errors import DuelsError, OptionError, UnknownName
from duels.games import load
from duels.kernels import have_numba
from tests.arena.helpers import make_tournament

CUP = Tournament(("perfect", "greedy", "random"), (Setting("digit-duel"),), pairs=7, seed=1)


@settings(deadline=None)  # tables are loaded on the way
@given(
    st.integers(2, 6), st.integers(1, 3), st.integers(1, 2100), st.booleans(), st.booleans()
)  # fmt: skip
def test_every_pair_is_played_once(
    players: int, games: int, pairs: int, gauntlet: bool, fast: bool
) -> None:
    slugs = ("digit-duel", "firewall-breach", "number-wars")[:games]
    names = ("perfect", "greedy", "random", "easy", "hard", "ismcts")[:players]
    tournament = Tournament(
        names,
        tuple(Setting(slug) for slug in slugs),
        pairs,
        1,
        gauntlet,
        compiled=fast and have_numba(),
    )
    expected = players - 1 if gauntlet else players * (players - 1) // 2
    assert len(tournament.pairings) == len(set(tournament.pairings)) == expected
    seen: Counter[tuple[int, int]] = Counter()
    last: dict[tuple[int, int], int] = {}
    for chunk in chunks(tournament):
        key = chunk.game, chunk.pairing
        assert chunk.start == last.get(key, 0)  # in order, so that a test can be decided early
        last[key] = chunk.stop
        seen[key] += chunk.games
    assert len(seen) == games * expected
    assert set(seen.values()) == {2 * pairs}


@given(st.integers(1, 10_000))
def test_a_number_is_one_place(number: int) -> None:
    game_index = CUP.game_index(number)
    assert CUP.number(game_index) == number
    assert CUP.game_index(CUP.number(game_index._replace(seat=1 - game_index.seat))) != game_index


def test_more_pairs_leave_numbers_and_seeds_as_they_are() -> None:
    longer = CUP._replace(pairs=1000)
    for game_index in (GameIndex(0, 2, 6, 1), GameIndex(0, 0, 0, 0)):
        assert longer.number(game_index) == CUP.number(game_index)
    assert encounter_seed(longer, 0, 1) == encounter_seed(CUP, 0, 1)


def test_seeds_depend_on_the_game_and_the_pairing_only() -> None:
    one = encounter_seed(CUP, 0, 2)  # greedy and random
    alone = CUP._replace(players=("greedy", "random"))
    assert encounter_seed(alone, 0, 0) == one
    others = [
        encounter_seed(CUP, 0, 1), encounter_seed(CUP._replace(seed=2), 0, 2),
        encounter_seed(CUP._replace(games=(Setting("number-wars"),)), 0, 2),
        encounter_seed(CUP._replace(games=(Setting("digit-duel", (("life", "9"),)),)), 0, 2),
    ]  # fmt: skip
    assert len({one, *others}) == 5
    assert len({pair_seed(seed, pair) for seed in (one, *others) for pair in range(200)}) == 1000


def test_a_tournament_survives_json() -> None:
    tournament = CUP._replace(games=(Setting("digit-duel", (("life", "9"),)),), sprt=(0.0, 10.0))
    assert Tournament.from_json(tournament.to_json()) == tournament


def test_a_setting_keeps_what_is_not_usual() -> None:
    game = load("digit-duel", life="9/10", first="2")
    assert setting_of(game) == Setting("digit-duel", (("first", "2"), ("life", "9/10")))
    assert game_of(setting_of(game)) == game
    assert setting_of(load("digit-duel")) == Setting("digit-duel")


@pytest.mark.extra("solve")
def test_only_what_kernels_know_is_compiled() -> None:
    tournament = make_tournament("perfect greedy ismcts Last", "firewall-breach", compiled=True)
    found = [
        tournament.pairings[pairing] for pairing in range(6) if compiled(tournament, 0, pairing)
    ]
    assert found == [(0, 1)]
    assert not compiled(tournament._replace(time_limit=1.0), 0, 0)
    assert not compiled(tournament._replace(compiled=False), 0, 0)


@pytest.mark.parametrize(
    ("players", "changes", "error", "said"),
    [
        ("greedy", {}, OptionError, "at least two players"),
        ("greedy greed", {}, OptionError, "greedy is given twice"),
        ("greedy human", {}, UnknownName, "a human cannot play"),
        ("greedy nobody", {}, UnknownName, "there is no player 'nobody'"),
        ("greedy ./nobody", {}, UnknownName, "there is no program"),
        ("greedy Nobody", {}, UnknownName, "is not a subclass"),
        ("greedy Unmakeable", {}, UnknownName, "out of order"),
        ("greedy random", {"pairs": 0}, OptionError, "pairs: expected 1"),
        ("greedy random", {"games": ()}, OptionError, "at least one game"),
        ("greedy random", {"games": (Setting("digit-duel"),) * 2}, OptionError, "listed twice"),
        ("greedy perfect", {"games": (Setting("cipher-siege", (("values", "9"),)),)},
         DuelsError, "solve"),
    ],
)  # fmt: skip
def test_what_cannot_be_played_is_refused(
    players: str, changes: dict[str, object], error: type[Exception], said: str
) -> None:
    names = tuple("tests.arena.players:" + n if n[0].isupper() else n for n in players.split())
    with pytest.raises(error, match=said):
        checked(Tournament(names, (Setting("digit-duel"),), 1, 1)._replace(**changes))  # type: ignore[arg-type]


def test_a_program_is_found(tmp_path: Path) -> None:
    (tmp_path / "bot").write_text("#!/bin/sh\n")
    with pytest.raises(UnknownName, match="chmod"):
        checked(Tournament((f"{tmp_path}/bot", "greedy"), (Setting("digit-duel"),), 1, 1))
