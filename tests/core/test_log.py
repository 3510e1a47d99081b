"""What each viewer may know of a match: the log, views, and the redacted record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duels.core import record
from duels.core.chance import commitment, new_seed
from duels.core.errors import RecordError
from duels.core.game import Outcome, Pick, Result
from duels.core.match import Forfeit, Logged, Match, Resign, Timeout, Undo
from duels.games import load
from duels.games.firewall_breach.rules import FirewallBreach


def test_the_log_holds_everything_that_happened_and_the_result() -> None:
    match = Match(load("number-wars"), seed=1, time_limit=30)
    match.submit(0, "7")
    match.time_out(1)
    match.undo(0)
    match.resign(0)
    entries = [logged.entry for logged in match.log(None)]
    result = Result(1, "resignation", "Player 1 resigned.")
    assert entries == [Pick(((0, "7"),)), Timeout((1,)), Undo(0, 0), Resign(0), result]
    assert [logged.number for logged in match.log(1, since=2)] == [2, 3, 4]
    assert match.log(1, since=5) == ()
    assert all(logged.at is not None for logged in match.log(0))


def test_a_log_is_redacted_for_its_viewer() -> None:
    match = Match(load("cipher-siege"), seed=4)
    move = next(m for m in match.view(0).options if m.startswith("swap"))
    match.submit(0, move)
    logs = {viewer: match.log(viewer) for viewer in (0, 1, None)}
    deal = [logged.entry.outcome for logged in logs[1][:6] if isinstance(logged.entry, Outcome)]
    assert [outcome == "?" for outcome in deal] == [True, False] * 3
    spectator = [logged.entry for logged in logs[None] if isinstance(logged.entry, Outcome)]
    assert {outcome.outcome for outcome in spectator} == {"?"}
    assert Pick(((0, "swap ?"),)) in [logged.entry for logged in logs[None]]


def test_a_redacted_record_has_neither_seed_nor_secrets_and_is_not_replayed() -> None:
    seed = new_seed()
    match = Match(load("cipher-siege"), seed, about={"table": 7})
    for viewer in (0, 1, None):
        data = record.redacted(match, viewer)
        assert "seed" not in data
        assert str(seed) not in json.dumps(data)
        assert data["commitment"] == commitment(seed)
        assert data["about"] == {"table": 7}
        hidden = [values["outcome"] == "?" for values in data["entries"] if values["by"] != 1]
        assert all(hidden) == (viewer != 1)
        with pytest.raises(RecordError, match="only what one viewer saw"):
            record.loads(json.dumps(data), load)


def test_a_commitment_is_checked_against_the_seed_after_the_end() -> None:
    match = Match(load("firewall-breach"), new_seed())
    published = match.commitment
    assert match.seed is not None
    assert match.seed.bit_length() > 100
    match.resign(0)
    kept = record.loads(record.dumps(match), load)
    assert kept.commitment == published
    assert commitment(match.seed ^ 1) != published
    assert Match(load("firewall-breach"), seed=7).commitment is None  # found by trying


def test_options_are_there_only_for_the_player_who_must_choose() -> None:
    match = Match(load("number-clash"), seed=1)
    assert match.view(0).options
    assert match.view(None).options == ()
    match.submit(0, "7")
    assert match.view(0).options == ()
    match.resign(1)
    assert match.view(1).options == ()
    assert match.view(1).result == match.result


class Counting(FirewallBreach):
    """Counts how often it is asked what a viewer sees."""

    asked = 0

    def observe(self, state: Any, viewer: int | None) -> Any:
        Counting.asked += 1
        return super().observe(state, viewer)

    def redact(self, state: Any, event: Any, viewer: int | None) -> Any:
        Counting.asked += 1
        return super().redact(state, event, viewer)


def test_asking_is_linear_in_what_is_new() -> None:
    match = Match(Counting(strength=999, hit=1), seed=1)
    Counting.asked = 0
    while match.result is None:
        match.view(0)
        match.log(None, since=len(match.events))
        match.submit(match.deciders[0], "attack")
    assert len(match.events) > 1000
    assert Counting.asked < 4 * len(match.events)


def test_a_double_forfeit_is_a_draw_and_can_be_recorded() -> None:
    match = Match(load("number-clash"), seed=1)
    match.forfeit((0, 1), "neither pick is an option")
    reason = "Both players forfeit: neither pick is an option."
    assert match.result == Result(None, "forfeit", reason)
    again = record.loads(record.dumps(match), load)
    assert again.events == [Forfeit((0, 1), "neither pick is an option")]
    assert match.log(0)[0] == Logged(0, again.events[0], match.stamps[0].at)


def test_entries_can_be_stored_one_at_a_time() -> None:
    """A header once, each entry as it comes, and a sealed pick apart from both."""
    match = Match(load("number-clash"), seed=3, time_limit=30, now=lambda: 1e9)
    stored: list[Any] = []
    head = json.dumps(record.header(match))
    for pair in [("7", "8"), ("4", "4")]:
        for player in (0, 1):
            match.submit(player, pair[player])
            stored += [
                json.dumps(record.entry(match, n)) for n in range(len(stored), len(match.events))
            ]
    match.submit(1, "2")
    pending = json.loads(json.dumps(match.pending()))
    again = record.follow(
        json.loads(head), [json.loads(text) for text in stored], load, lambda: 1e9
    )
    assert (again.events, again.stamps, again.id) == (match.events, match.stamps, match.id)
    assert "'2'" not in repr(again.view(0)._replace(options=(), observation=None))
    assert again.view(0) == match.view(0)._replace(
        sealed=(), clock=again.view(0).clock, clocks=again.view(0).clocks
    )
    again.restore(pending)
    assert again.view(0).sealed == (1,)
    assert len(record.to_json(again)["entries"]) == 2
    again.submit(0, "9")
    assert again.events[-1] == Pick(((0, "9"), (1, "2")))
    again.restore(pending)
    assert again.view(0).sealed == (), "what was pending in one choice is nothing in the next"


def test_about_is_kept_as_it_is() -> None:
    about = {"event": "club night", "round": 3, "nested": [None, 1.5, {"ü": True}]}
    match = Match(load("firewall-breach"), seed=1, about=about, id="abc")
    again = record.loads(record.dumps(match), load)
    assert (again.about, again.id, again.begun) == (about, "abc", match.begun)
