"""Time: limits and budgets, deadlines that survive a reload, and pauses that give nothing back."""

from __future__ import annotations

import pytest

from duels.core import record
from duels.core.clock import TimeControl
from duels.core.errors import IllegalMove, OptionError
from duels.core.match import Match, Pause, Resume, Timeout
from duels.core.narrator import narrate
from duels.games import load
from tests.core.test_match import Clock


def timed(slug: str, clock: Clock, **control: float) -> Match:
    return Match(load(slug), seed=1, time_control=TimeControl(**control), now=clock)


def reloaded(match: Match, clock: Clock) -> Match:
    data = record.to_json(match)
    return record.follow(data, data["entries"], load, now=clock)


def test_a_deadline_is_absolute_and_survives_a_reload() -> None:
    clock = Clock()
    match = timed("digit-duel", clock, limit=30)
    clock.now = 20.0
    match.submit(0, "7")
    assert match.deadline(1) == 50.0
    clock.now = 45.0
    again = reloaded(match, clock)
    assert again.deadline(1) == 50.0
    assert again.remaining(1) == 5.0
    clock.now = 51.0
    again.submit(1, "5")
    assert again.events[-1] == Timeout((1,))


def test_a_pause_keeps_what_was_spent_and_charges_nothing_while_it_lasts() -> None:
    """5 seconds left stay 5 seconds, however long the match was put away."""
    clock = Clock()
    match = timed("digit-duel", clock, limit=30)
    clock.now = 25.0
    match.pause()
    assert match.events == [Pause()]
    clock.now = 90000.0
    again = reloaded(match, clock)
    assert again.deadline(0) is None
    assert again.remaining(0) == 5.0
    again.start_clock(0)
    clock.now = 90003.0
    assert again.remaining(0) == 2.0
    clock.now = 90006.0
    assert again.late(0)


def test_a_budget_runs_down_over_the_match_and_grows_by_the_increment() -> None:
    clock = Clock()
    match = timed("number-wars", clock, budget=10.0, increment=2.0)
    clock.now = 4.0
    match.submit(0, "7")
    assert match.clocks.left == [8.0, 10.0]
    clock.now = 9.0
    match.submit(1, "7")
    assert match.remaining(0) == 8.0
    assert match.stamps[1].spent == ((1, 5.0),)
    assert reloaded(match, clock).clocks.left == match.clocks.left == [8.0, 7.0]
    clock.now = 17.0
    match.submit(0, "9")
    assert match.result is not None, "a used-up budget loses the game even here"
    assert match.result.by == "time"
    assert reloaded(match, clock).result == match.result


def test_limit_and_budget_together_give_the_shorter_time() -> None:
    clock = Clock()
    match = timed("number-wars", clock, limit=5.0, budget=12.0)
    clock.now = 5.0
    match.submit(0, "7")
    assert match.events == [Timeout((0,))]
    assert match.result is None, "a missed limit costs the turn"
    match.submit(1, "1")
    assert match.remaining(0) == 5.0
    clock.now = 9.0
    match.submit(0, "7")
    match.submit(1, "2")
    assert match.remaining(0) == 3.0


def test_in_a_sealed_choice_each_pays_for_the_own_time() -> None:
    clock = Clock()
    match = timed("number-clash", clock, budget=60.0)
    clock.now = 2.0
    match.submit(1, "4")
    clock.now = 20.0
    match.submit(0, "4")
    assert match.stamps[0].spent == ((0, 20.0), (1, 2.0))
    assert match.clocks.left == [40.0, 58.0]


def test_undo_does_not_give_time_back() -> None:
    clock = Clock()
    match = timed("number-wars", clock, budget=60.0)
    clock.now = 10.0
    match.submit(0, "7")
    clock.now = 25.0
    match.undo(0)
    assert match.remaining(0) == 50.0
    assert match.clocks.left == [50.0, 45.0], "the other has thought as well"
    assert match.stamps[-1].spent == ((1, 15.0),)
    assert reloaded(match, clock).clocks.left == match.clocks.left


def test_undoing_gives_no_time_to_think_for_nothing() -> None:
    clock = Clock()
    match = timed("number-clash", clock, budget=60.0, increment=5.0)
    match.submit(0, "7")
    match.submit(1, "8")
    clock.now = 10.0
    match.submit(0, "2")
    clock.now = 30.0
    match.undo(1)
    assert match.stamps[-1].spent == ((0, 10.0), (1, 30.0))
    assert match.clocks.left == [55.0, 35.0]


def test_without_a_clock_nothing_is_stopped() -> None:
    match = Match(load("digit-duel"), seed=1)
    for act in (match.pause, match.resume):
        with pytest.raises(IllegalMove, match="no clock"):
            act()


def test_time_is_up_at_the_deadline_itself() -> None:
    """Seconds since 1970 have room for no more than 1e-7 s; what is left must be 0 all the same."""
    for part in range(1000):
        clock = Clock()
        clock.now = 1.7e9 + part / 1000
        match = timed("digit-duel", clock, limit=30.1)
        deadline = match.deadline(0)
        assert deadline is not None
        clock.now = deadline
        assert match.late_players() == (0,)


def test_a_limit_overrun_while_no_client_looked_costs_no_more_than_the_limit() -> None:
    clock = Clock()
    match = timed("number-wars", clock, limit=5, budget=12)
    clock.now = 600.0
    match = reloaded(match, clock)
    assert match.late_players() == (0,)
    match.time_out(0)
    assert match.result is None, "only the turn is lost"
    assert match.clocks.left == [7.0, 12]
    assert match.stamps[0].spent == ((0, 5.0),)
    assert match.remaining(1) == 5.0, "no player could choose while it was not known"


def test_clocks_that_run_again_are_not_refilled_by_a_reload() -> None:
    clock = Clock()
    match = timed("digit-duel", clock, limit=30)
    clock.now = 5.0
    match.pause()
    clock.now = 1000.0
    match.resume()
    clock.now = 1010.0
    match.resume()
    clock.now = 1020.0
    assert match.remaining(0) == 5.0
    again = reloaded(match, clock)
    assert again.remaining(0) == 5.0
    assert again.events == [Pause(), Resume(), Resume()]
    assert [line for p in narrate(again, None) for line in p.lines if "clocks" in line] == [
        "(The clocks were stopped.)", *["(The clocks run again.)"] * 2
    ]  # fmt: skip


def test_every_viewer_sees_both_clocks() -> None:
    clock = Clock()
    match = timed("number-clash", clock, budget=60)
    clock.now = 2.0
    match.submit(1, "4")
    clock.now = 20.0
    assert [match.view(viewer).clocks for viewer in (0, 1, None)] == [(40.0, 60)] * 3
    assert [match.view(viewer).clock for viewer in (0, 1, None)] == [40.0, None, None]
    clock.now = 61.0
    assert match.late_players() == (0,)
    assert Match(load("digit-duel"), seed=1).view(0).clocks == (None, None)


def test_a_pause_in_a_sealed_choice_keeps_the_pick_that_is_in() -> None:
    clock = Clock()
    match = timed("number-clash", clock, limit=30)
    clock.now = 4.0
    match.submit(0, "7")
    clock.now = 10.0
    kept = match.pending()
    match.pause()
    assert match.pending() == kept, "a pause is no other choice"
    again = reloaded(match, clock)
    again.restore(kept)
    clock.now = 500.0
    again.resume()
    clock.now = 519.0
    again.submit(1, "8")
    assert again.stamps[-1].spent == ((0, 4.0), (1, 29.0))


@pytest.mark.parametrize(
    "control",
    [
        {"limit": 0.0}, {"limit": -1.0}, {"limit": float("nan")}, {"limit": float("inf")},
        {"budget": 0.0}, {"increment": 1.0}, {"budget": 5.0, "increment": -1.0}, {"limit": 1e12},
        {"limit": 10**400},
    ],
)  # fmt: skip
def test_a_senseless_time_control_is_refused(control: dict[str, float]) -> None:
    with pytest.raises(OptionError, match=r"^time "):
        timed("digit-duel", Clock(), **control)


def test_what_a_record_would_refuse_is_refused_at_once() -> None:
    game = load("digit-duel")
    match = Match(game, seed=1)
    with pytest.raises(IllegalMove, match="no time limit"):
        match.time_out(0)
    for wrong in (7, -1, True, "0"):
        with pytest.raises(IllegalMove, match="there is no player"):
            match.resign(wrong)  # type: ignore[arg-type]
    for settings in (
        {"turn_limit": 0}, {"turn_limit": 2.5}, {"seed": -1}, {"seed": 1.0},
        {"players": ("\x1b[2J", "human")}, {"players": ("a",)}, {"about": {"x": float("nan")}},
        {"about": {"x": "\ud800"}}, {"about": {1: "x"}}, {"id": "\x00"}, {"time_limit": 0},
        {"seed": 10**5000}, {"turn_limit": 10**5000},
        {"time_limit": 30, "time_control": TimeControl(budget=60)},
    ):  # fmt: skip
        with pytest.raises(OptionError):
            Match(game, **settings)
    with pytest.raises(OptionError, match="why"):
        match.forfeit(0, "a bell \x07 rings")
    assert match.events == []
    assert record.loads(record.dumps(match), load).result is None
