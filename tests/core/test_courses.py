"""Random courses of events, with all that a server meets: undos, offers, timeouts, pauses, ends."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core import record
from duels.core.chance import draw
from duels.core.clock import TimeControl
from duels.core.errors import IllegalMove
from duels.core.game import AnyGame, Chance, Decide, Event, Outcome, Pick
from duels.core.match import Limit, Match, Pause, Resume, Undo
from duels.core.narrator import narrate
from duels.core.wire import dump, dump_view, load, load_view
from duels.games import load as load_game
from tests.variants import VARIANTS, name

VIEWERS = (0, 1, None)
CONTROLS = (TimeControl(), TimeControl(30), TimeControl(None, 60, 2), TimeControl(20, 90))


class Clock:
    """A clock that mostly goes forward, as clocks that are set by others do."""

    def __init__(self, randomness: Random) -> None:
        self.now, self.randomness = 1.7e9, randomness

    def tick(self) -> None:
        self.now += self.randomness.choice((0.0, 0.4, 3.21, 7.0, 25.0, -2.0))

    def __call__(self) -> float:
        return self.now


def step(match: Match, randomness: Random) -> None:
    """Something that an owner of a match, or a player in it, may do."""
    player, kind = randomness.randrange(2), randomness.random()
    acts: dict[float, Callable[[], object]] = {
        0.04: lambda: match.undo(player),
        0.08: lambda: match.offer_undo(player),
        0.11: lambda: match.accept_undo(player),
        0.12: lambda: match.decline_undo(player),
        0.15: match.pause,
        0.19: match.resume,
        0.20: lambda: match.time_out(player),
        0.203: lambda: match.resign(player),
        0.206: lambda: match.forfeit((0, 1) if kind < 0.2045 else player, "gone"),
    }
    for most, act in acts.items():
        if kind < most:
            with suppress(IllegalMove):
                act()
            return
    for late in match.late_players():
        match.time_out(late)
    if match.deciders:
        chooser = randomness.choice(match.deciders)
        match.submit(chooser, randomness.choice(match.view(chooser).options), len(match.events))


def course(game: AnyGame, seed: int) -> tuple[Match, Clock, Random]:
    randomness = Random(seed)
    clock = Clock(randomness)
    control = randomness.choice(CONTROLS)
    turns = randomness.choice((5, 60))
    match = Match(game, seed, time_control=control, now=clock, turn_limit=turns, about={"n": 1})
    return match, clock, randomness


def same_game(game: AnyGame) -> Callable[..., AnyGame]:
    return lambda slug, **options: type(game)(**options)


def kept(data: Any) -> Any:
    """What comes back from a store of JSON."""
    return json.loads(json.dumps(data))


@pytest.mark.cases(10)
@pytest.mark.slow
@pytest.mark.parametrize("game", VARIANTS, ids=name)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_store_gives_every_match_back_at_any_moment(game: AnyGame, seed: int) -> None:
    match, clock, randomness = course(game, seed)
    head, logs = kept(record.header(match)), {viewer: match.log(viewer) for viewer in VIEWERS}
    stored = [kept(record.entry(match, n)) for n in range(len(match.events))]
    for _ in range(randomness.randrange(120)):
        clock.tick()
        step(match, randomness)
        stored += [kept(record.entry(match, n)) for n in range(len(stored), len(match.events))]
        for viewer in VIEWERS:
            logs[viewer] += match.log(viewer, since=len(logs[viewer]))
        if match.result is not None:
            break
    again = record.follow(head, stored, same_game(game), now=clock)
    assert (again.events, again.stamps, again.line) == (match.events, match.stamps, match.line)
    again.restore(kept(match.pending()))
    assert again.pending() == match.pending()
    assert [again.deadline(p) for p in (0, 1)] == [match.deadline(p) for p in (0, 1)]
    assert again.late_players() == match.late_players()
    for viewer in VIEWERS:
        assert match.log(viewer) == logs[viewer] == again.log(viewer)
        assert [logged.number for logged in logs[viewer]] == list(range(len(logs[viewer])))
        assert load(kept(dump(logs[viewer]))) == logs[viewer]
        view = match.view(viewer)
        assert again.view(viewer) == view._replace(offer=None), "an offer is in no record"
        assert load_view(kept(dump_view(view)), same_game(game)) == view
        assert list(narrate(again, viewer)) == list(narrate(match, viewer))
    while stored and stored[-1]["type"] in ("chance", "limit"):
        stored.pop()
    again = record.follow(head, stored, same_game(game), now=clock)
    assert again.events == match.events, "what follows from the seed is not lost with a store"
    whole = record.dumps(match)
    assert record.dumps(record.loads(whole, same_game(game))) == whole


@pytest.mark.parametrize("slug", ["firewall-breach", "cipher-siege"])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_line_meets_the_same_chance_whichever_way_it_is_reached_again(
    slug: str, seed: int
) -> None:
    """Each new line takes the next number; `line` is worked out here from the entries alone."""
    match, clock, randomness = course(load_game(slug), seed)
    for _ in range(60):
        clock.tick()
        step(match, randomness)
        if randomness.random() < 0.3:
            with suppress(IllegalMove):
                match.undo(randomness.randrange(2))
    line: list[tuple[int, Any]] = []
    numbers: dict[Any, int] = {}
    for number, entry in enumerate(match.events):
        if isinstance(entry, Undo):
            line = [(earlier, made) for earlier, made in line if earlier < entry.to]
            continue
        if isinstance(entry, Outcome):
            turn = match.game.turn(match.state_before(number))
            assert isinstance(turn, Chance)
            n = numbers.setdefault(tuple(made for _, made in line), len(numbers) + 1)
            assert entry.outcome == draw(seed, n, turn.odds)
        if not isinstance(entry, Pause | Resume):
            line.append((number, entry))
    assert match.line == tuple(number for number, _ in line)


def events_of(game: AnyGame, state: Any) -> list[Event]:
    """All that the rules allow to happen in a state."""
    turn = game.turn(state)
    if isinstance(turn, Chance):
        return [Outcome(outcome, turn.by) for outcome in turn.odds]
    assert isinstance(turn, Decide)
    moves = [[(player, move) for move in turn.options[player]] for player in sorted(turn.options)]
    return [Pick(combination) for combination in itertools.product(*moves)]


def twin(match: Match, viewer: int | None, randomness: Random) -> Match | None:
    """Another match that a viewer cannot tell from this one; None where the way there is lost."""
    times = iter([match.begun, *(stamp.at for stamp in match.stamps)])
    other = Match(
        match.game, None, time_control=match.time_control, turn_limit=match.turn_limit,
        id=match.id, about=match.about, now=lambda: next(times, match.clock()),
    )  # fmt: skip
    for number, entry in enumerate(match.events):
        if isinstance(entry, Pick | Outcome):
            seen, state = match.redact(number, viewer), other.state
            fits = [e for e in events_of(match.game, state) if seen == redacted(other, e, viewer)]
            if not fits:
                return None
            entry = randomness.choice(fits)
        if not isinstance(entry, Limit):
            other.enact(entry, match.stamps[number].spent)
    return other


def redacted(match: Match, event: Event, viewer: int | None) -> Event:
    return match.game.redact(match.state, event, viewer)


@pytest.mark.parametrize("game", [game for game in VARIANTS if game.private], ids=name)
def test_nothing_hidden_is_in_a_log_a_view_a_record_or_a_text(game: AnyGame) -> None:
    differed = 0
    for seed in range(12):
        match, clock, randomness = course(game, seed)
        for _ in range(randomness.randrange(1, 60)):
            clock.tick()
            step(match, randomness)
            if match.result is not None:
                break
        for viewer in VIEWERS:
            other = twin(match, viewer, randomness)
            if other is None:
                continue
            other.restore(match.pending())
            other.offer = match.offer
            differed += other.events != match.events
            assert other.log(viewer) == match.log(viewer)
            assert kept(dump_view(other.view(viewer))) == kept(dump_view(match.view(viewer)))
            assert list(narrate(other, viewer)) == list(narrate(match, viewer))
            records = [record.redacted(m, viewer) for m in (match, other)]
            for data in records:
                del data["commitment"], data["checksum"]
            assert records[0] == records[1]
    alike = getattr(game, "values", 2) == 1  # a siege with cards of one value hides nothing
    assert alike or differed > 2, "nothing was hidden, so nothing was shown"
