"""Records: what is written is what happened, and nothing else is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core import record
from duels.core.conformance import play_randomly
from duels.core.errors import RecordError
from duels.core.match import Match
from duels.games import load


def sample() -> Match:
    """A match with picks, chance, an undo and a resignation."""
    match = Match(
        load("firewall-breach"), seed=2024, players=("human", "greedy"), time_limit=30,
        now=lambda: 1.7e9, id="sample",
    )  # fmt: skip
    match.submit(0, "attack")
    match.submit(1, "bypass")
    match.undo(0)
    match.submit(0, "bypass")
    match.submit(1, "attack")
    match.resign(0)
    return match


def rewritten(match: Match, change: Any) -> str:
    """A record changed by a person who also knows how to make the checksum."""
    data = record.to_json(match)
    change(data)
    data["checksum"] = record._checksum(data)
    return json.dumps(data)


def refusal(text: str) -> str:
    with pytest.raises(RecordError) as caught:
        record.loads(text, load)
    return str(caught.value)


def test_a_record_is_readable_json() -> None:
    data = json.loads(record.dumps(sample()))
    for values in data["entries"]:
        assert values.pop("at") > 1e9
        values.pop("spent", None)
    assert data["game"] == "firewall-breach"
    assert data["options"] == {"strength": "10", "hit": "3", "bypass": "1", "first": "1"}
    assert data["players"] == ["human", "greedy"]
    assert data["seed"] == "2024"
    assert data["entries"] == [
        {"type": "pick", "moves": {"1": "attack"}},
        {"type": "chance", "outcome": "2", "by": 1},
        {"type": "pick", "moves": {"2": "bypass"}},
        {"type": "undo", "to": 0, "player": 1},
        {"type": "pick", "moves": {"1": "bypass"}},
        {"type": "pick", "moves": {"2": "attack"}},
        {"type": "chance", "outcome": "4", "by": 2},
        {"type": "resign", "player": 1},
    ]
    assert data["result"] == {
        "type": "result", "winner": 2, "by": "resignation", "reason": "Player 1 resigned."
    }  # fmt: skip


def test_replay_gives_the_same_match() -> None:
    match = sample()
    again = record.loads(record.dumps(match), load)
    assert (again.events, again.state, again.result) == (match.events, match.state, match.result)
    assert (again.players, again.seed, again.time_control) == (
        match.players,
        match.seed,
        (30, None, 0),
    )
    assert record.dumps(again) == record.dumps(match)


def test_a_resumed_match_goes_on_with_the_same_dice() -> None:
    whole = Match(load("firewall-breach"), seed=5)
    for _ in range(4):
        whole.submit(whole.deciders[0], "attack")
    half = Match(load("firewall-breach"), seed=5)
    half.submit(0, "attack")
    half = record.loads(record.dumps(half), load)
    for _ in range(3):
        half.submit(half.deciders[0], "attack")
    assert half.events == whole.events


def test_timeouts_are_replayed_whatever_the_clock_says() -> None:
    match = Match(load("number-wars"), seed=5, time_limit=0.001)
    match.time_out(0)
    match.clock = lambda: 0.0
    match.submit(1, "4")
    again = record.loads(record.dumps(match), load)
    assert again.events == match.events


def change(path: str, value: Any) -> Any:
    """A change of one value in a record, by a path such as entries/1/chance."""

    def apply(data: Any) -> None:
        *steps, last = [int(s) if s.isdigit() else s for s in path.split("/")]
        for step in steps:
            data = data[step]
        data[last] = value

    return apply


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("version", 4, "version 4; this program reads 2 and 3"),
        ("version", None, "version None"),
        ("format", "chess", "not a Duels record"),
        ("game", "poker", "there is no game 'poker'"),
        ("options", {"strength": "-1"}, "strength takes a number"),
        ("options", [], "options: expected"),
        ("players", ["human"], "players: expected two names"),
        ("seed", 2024, "seed: expected digits"),
        ("seed", "9" * 5000, "seed: expected digits in a text, fewer than 310"),
        ("turn_limit", 0, "turn_limit: expected"),
        ("time", 30, "time: expected limit, budget, increment"),
        ("time", {"limit": -3, "budget": None, "increment": 0}, "time limit: expected seconds"),
        ("time", {"limit": 3, "budget": None, "increment": 1}, "increment: it needs a time budget"),
        ("id", 7, "id: expected printable text"),
        ("id", None, "id: expected printable text"),
        ("game", "firewall", "game: expected 'firewall-breach'; got 'firewall'"),
        ("time", {"limit": 10**400, "budget": None, "increment": 0}, "time limit: expected"),
        ("entries/0/spent", {"1": 10**400}, "entry 1: spent: expected seconds by player"),
        ("entries/0/spent", {"1": 1, "2": 1}, "entry 1: spent: this entry cannot have these times"),
        ("entries/1/spent", {"1": 1}, "entry 2: spent: this entry cannot have these times"),
        ("entries/7/spent", {"1": 1}, "entry 8: spent: this entry cannot have these times"),
        ("about", None, "about: expected an object"),
        ("more", 7, "unknown key 'more'"),
        ("begun", -1, "begun: expected seconds since 1970"),
        ("players", ["\x1b[2J", "human"], "players: expected printable text"),
        ("players", ["\ud800", "human"], "players: expected printable text"),
        ("entries/0/at", "noon", "at: expected seconds since 1970"),
        ("entries/0/spent", {"3": 1}, "entry 1: spent: expected seconds by player"),
        ("entries/0/spent", {"1": -1}, "entry 1: spent: expected seconds by player"),
        ("entries/0/more", 1, "entry 1: unknown key 'more' in an entry"),
        ("entries", {}, "entries: expected a list"),
        ("seed", "2025", "entry 2: the record says {'type': 'chance'"),
        (
            "entries/0",
            {"type": "pick", "moves": {"1": "ambush"}},
            "entry 1: 'ambush' is not an option",
        ),
        (
            "entries/0",
            {"type": "pick", "moves": {"2": "attack"}},
            "entry 1: it is the choice of Player 1",
        ),
        ("entries/0", {"type": "pick", "moves": {"1": 5}}, "is not an entry"),
        ("entries/0", {"type": "pick", "moves": {}}, "entry 1: it is the choice of Player 1"),
        ("entries/1", {"type": "chance", "outcome": "6"}, "entry 2: the record says {'type'"),
        (
            "entries/2",
            {"type": "chance", "outcome": "6"},
            "entry 3: nothing is left to chance here",
        ),
        (
            "entries/3",
            {"type": "undo", "to": 1, "player": 1},
            "entry 4: there is no pick of Player 1",
        ),
        (
            "entries/3",
            {"type": "undo", "to": 98, "player": 1},
            "entry 4: there is no pick of Player 1",
        ),
        (
            "entries/3",
            {"type": "undo", "to": -99, "player": 1},
            "entry 4: there is no pick of Player 1",
        ),
        (
            "entries/3",
            {"type": "limit", "decisions": 500},
            "entry 4: the turn limit is not reached here",
        ),
        ("entries/3", {"type": "timeout", "players": []}, "entry 4: it is the choice of Player 1"),
        ("entries/3", {"type": "timeout", "players": [2]}, "entry 4: it is the choice of Player 1"),
        ("entries/3", {"type": "resign", "player": 3}, "is not an entry"),
        ("entries/3", ["resign"], "entry 4: ['resign'] is not an entry"),
        ("entries/3", {"type": "resign", "player": 1}, "entry 5: no choice is open"),
        ("result", None, "result: the entries do not lead to None"),
        ("result/winner", 1, "result: the entries do not lead to"),
    ],
)
def test_a_contradiction_is_refused_by_its_first_bad_entry(
    path: str, value: Any, says: str
) -> None:
    assert says in refusal(rewritten(sample(), change(path, value)))


def test_a_record_cut_before_a_chance_outcome_is_refused() -> None:
    def cut(data: Any) -> None:
        data["entries"], data["result"] = data["entries"][:1], None

    assert "entry 2 is missing" in refusal(rewritten(sample(), cut))


@pytest.mark.parametrize("key", sorted(record.KEYS - {"format", "version", "checksum"}))
def test_a_record_without_one_of_its_keys_is_refused(key: str) -> None:
    assert refusal(rewritten(sample(), lambda data: data.pop(key))) == f"{key}: missing"


def test_a_key_that_stands_twice_is_refused() -> None:
    text = record.dumps(sample()).replace('"seed": "2024"', '"seed": "7", "seed": "2024"')
    assert refusal(text) == "an object has the same key twice"


@given(st.data())
@settings(deadline=None)
def test_a_person_who_can_make_checksums_is_refused_politely(data: st.DataObject) -> None:
    """Any value in any place: refused, or a match that is written the same way."""
    whole = record.to_json(sample())
    place: Any = whole
    while True:
        keys = sorted(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(ODD)
    whole["checksum"] = record._checksum(whole)
    try:
        match = record.loads(json.dumps(whole), load)
    except RecordError:
        return
    again = record.to_json(match)
    # A missing option has its default value, and numbers are written without leading zeros.
    whole["options"] = load(whole["game"], **whole["options"]).settings()
    for values in whole["entries"]:
        values.setdefault("at", None)
    assert {**again, "checksum": ""} == {**whole, "checksum": ""}


NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, 10**12, -0.0, 1e308])
TEXTS = st.text() | st.sampled_from(
    ["attack", "bypass", "pick", "undo", "pause", "\ud800", "9" * 400]
)
KEYS = st.sampled_from(["type", "moves", "player", "players", "to", "1", "2", "why", "outcome"])
ODD = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | TEXTS, inner, max_size=4),
)


@given(st.data())
def test_a_damaged_file_is_never_half_loaded(data: st.DataObject) -> None:
    text = record.dumps(sample())
    at = data.draw(st.integers(0, len(text) - 2))
    new = data.draw(st.sampled_from(["", "7", '"', "x", text[:at], "\x00"]))
    damaged = text[:at] + new if data.draw(st.booleans()) else text[:at] + new + text[at + 1 :]
    try:
        match = record.loads(damaged, load)
    except RecordError:
        return
    assert record.dumps(match) == text


PLAIN = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_json_is_refused_politely(value: Any) -> None:
    refusal(json.dumps(value))


def test_a_bottomless_file_is_refused() -> None:
    assert "this is not a Duels record" in refusal("[" * 100_000)


def test_writing_is_atomic_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    path.write_text("old")
    match = play_randomly(load("digit-duel"), 1, Random(1))
    record.save(match, str(path))
    assert record.read(str(path), load).events == match.events
    assert os.listdir(tmp_path) == ["match.json"]
    with pytest.raises(RecordError, match="cannot write"):
        record.save(match, str(tmp_path / "nowhere" / "match.json"))
    (tmp_path / "folder").mkdir()
    with pytest.raises(RecordError, match="cannot write"):
        record.save(match, str(tmp_path / "folder"))
    assert sorted(os.listdir(tmp_path)) == ["folder", "match.json"]


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large").write_bytes(b" " * (record.LARGEST + 1))
    reasons = {"absent": "No such file", "binary": "not a text", "large": "too large"}
    for name, says in reasons.items():
        with pytest.raises(RecordError, match=says) as caught:
            record.read(str(tmp_path / name), load)
        assert name in str(caught.value)
