"""What a player believes fits what was seen, as likely as it should be."""

from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest

from duels.algorithms import belief
from duels.algorithms.belief import Course, believe, consistent_events, posterior
from duels.core.chance import stream
from duels.core.game import AnyGame, Chance, Decide, Event, Outcome, Pick
from duels.core.match import Match
from duels.games import load
from duels.games.number_clash.rules import NumberClash, State
from duels.players import make_opponent
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice

SECRETS: list[AnyGame] = [
    load("cipher-siege"),
    load("cipher-siege", swap="chosen"),
    load("cipher-siege", values=2, copies=2, integrity=6, hand=2, limit=2, swap="chosen"),
]


def played(game: AnyGame, seed: int, turn_limit: int = 30) -> Match:
    match = Match(game, seed, turn_limit=turn_limit)
    seats = [make_opponent("random", stream(seed, player)) for player in (0, 1)]
    while match.result is None:
        for player in match.deciders:
            match.submit(player, seats[player].choose(match.view(player)))
    return match


@pytest.mark.parametrize("states", [belief.STATES, 20])
@pytest.mark.parametrize("game", SECRETS, ids=str)
def test_what_is_believed_fits_what_was_seen(
    game: AnyGame, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where not all states are followed."""
    monkeypatch.setattr(belief, "STATES", states)
    match, checked, others = played(game, 5), 0, 0
    for number in match.line:
        if isinstance(match.events[number], Pick):
            for player in (0, 1):
                view = match.view_before(number, player)
                for guess in believe(game, view.history, player, Random(number), 8):
                    assert game.observe(guess.state, player) == view.observation
                    course, shown = Course(game.start()), []
                    for event in guess.events():
                        shown.append(game.redact(course.state, event, player))
                        course = course.after(game, event)
                    assert tuple(shown) == view.history
                    assert course == guess
                    others += guess.state != match.state_before(number)
                    checked += 1
    assert checked > 4
    assert others


def enumerated(game: AnyGame, history: tuple[Event, ...], viewer: int) -> dict[Any, float]:
    """Every state that fits, with how likely it is: all courses from the start, one by one.

    Chance is as likely as its odds; choices that look alike are equally likely.
    """
    weights: Counter[Any] = Counter()

    def follow(state: Any, seen: int, weight: float) -> None:
        if seen == len(history):
            weights[state] += weight  # type: ignore[assignment]
            return
        turn = game.turn(state)
        events: list[tuple[Event, float]] = []
        if isinstance(turn, Chance):
            events = [(Outcome(o, turn.by), float(odd)) for o, odd in turn.odds.items()]
        elif isinstance(turn, Decide):
            columns = [[(p, move) for move in turn.options[p]] for p in sorted(turn.options)]
            events = [(Pick(picks), 1.0) for picks in product(*columns)]
        events = [e for e in events if game.redact(state, e[0], viewer) == history[seen]]
        for event, odd in events:
            share = odd if isinstance(event, Outcome) else 1 / len(events)
            picks = [event.outcome] if isinstance(event, Outcome) else [m for _, m in event.moves]
            follow(game.play(state, *picks), seen + 1, weight * share)

    follow(game.start(), 0, 1.0)
    total = sum(weights.values())
    return {state: weight / total for state, weight in weights.items()}


SMALL: list[AnyGame] = [
    KuhnPoker(),
    LeducPoker(),
    LiarsDice(faces=3),
    load("cipher-siege", values=3, copies=2, integrity=6, hand=2, limit=3),
    load("cipher-siege", values=2, copies=2, integrity=6, hand=2, limit=2, swap="chosen"),
]


def differing(game: AnyGame, seeds: range) -> list[str]:
    """Where the posterior of a player in random games is not that of the enumeration."""
    wrong = []
    for seed in seeds:
        match = played(game, seed, turn_limit=5)
        for number in match.line:
            for player in (0, 1):
                history = match.view_before(number, player).history
                found, true = posterior(game, history, player), enumerated(game, history, player)
                if found != pytest.approx(true, abs=1e-12):
                    wrong.append(f"{history} {found} {true}")
    return wrong


@pytest.mark.parametrize("game", SMALL, ids=str)
def test_the_posterior_is_that_of_all_courses(
    game: AnyGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert differing(game, range(6)) == []

    # Ignoring one observation is noticed: the first event is taken for any other of its kind.
    def careless(game: AnyGame, state: Any, shown: Event, viewer: int | None) -> Any:
        turn = game.turn(state)
        if state == game.start() and isinstance(turn, Chance):
            return {Outcome(o, turn.by): float(odd) for o, odd in turn.odds.items()}
        return consistent_events(game, state, shown, viewer)

    monkeypatch.setattr(belief, "consistent_events", careless)
    assert differing(game, range(6))


@pytest.mark.parametrize("game", SMALL, ids=str)
@pytest.mark.parametrize("states", [belief.STATES, 4])
def test_samples_are_drawn_from_the_posterior(
    game: AnyGame, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also, less closely, where only a few of the states are followed."""
    view = max(
        (played(game, seed, turn_limit=2).view(0) for seed in range(5)),
        key=lambda view: len(enumerated(game, view.history, 0)),
    )
    true = enumerated(game, view.history, 0)
    monkeypatch.setattr(belief, "STATES", states)
    runs, size = 300, 10
    found: Counter[object] = Counter()
    for run in range(runs):
        found.update(g.state for g in believe(game, view.history, 0, Random(run), size))
    assert set(found) <= set(true)
    off = sum(abs(found[state] / (runs * size) - chance) for state, chance in true.items()) / 2
    assert off < (0.05 if states > 4 else 0.2)


@pytest.mark.parametrize("game", SECRETS[:2], ids=str)
def test_likely_courses_come_up_as_often_as_they_should(game: AnyGame) -> None:
    """Against the whole list of what fits, where the other player has shown some cards."""
    match = played(game, 9, turn_limit=3)
    view = match.view(0)
    true = enumerated(game, view.history, 0)
    assert len(true) > 1
    runs, size = 60, 50
    found: Counter[object] = Counter()
    for run in range(runs):
        guesses = believe(game, view.history, 0, Random(run), size)
        found.update(guess.state for guess in guesses)
    assert set(found) <= set(true)
    off = sum(abs(found[state] / (runs * size) - chance) for state, chance in true.items()) / 2
    assert off < 0.06


def test_any_beginning_of_what_is_believed_is_a_fair_sample() -> None:
    game = load("cipher-siege", values=2, copies=2, hand=1, limit=2)
    history = (Outcome("1", 0), Outcome("?", 1), Outcome("1", 0))
    true = enumerated(game, history, 0)
    assert len(true) == 1  # both ones are held, so the other card is a two
    first = Counter(
        next(believe(game, history[:2], 0, Random(n), 7)).state.hands[1] for n in range(2000)
    )
    assert abs(first[(2,)] / 2000 - 2 / 3) < 0.05


class Blind(NumberClash):
    """The other's number stays secret; only who won is seen."""

    private = True

    def observe(self, state: State, viewer: int | None) -> State:
        hidden = (0,) * len(state.numbers[0])
        one, two = (state.numbers[p] if p == viewer else hidden for p in (0, 1))
        return State((one, two), state.scores)

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        assert isinstance(event, Pick)
        won = self.play(state, *(move for _, move in event.moves)).scores
        shown = [(p, move if p == viewer else f"? {won}") for p, move in event.moves]
        return Pick(tuple(shown))


def test_the_hidden_half_of_a_sealed_pair_is_guessed() -> None:
    game = Blind(numbers=4)
    match = Match(game, 1)
    match.submit(0, "3")
    match.submit(1, "4")
    history = match.view(0).history
    guesses = {guess.events()[0] for guess in believe(game, history, 0, Random(1), 40)}
    # A 3 wins against 1, and against 4 as the underdog.
    assert guesses == {Pick(((0, "3"), (1, other))) for other in ("1", "4")}


def test_running_out_of_time_is_followed() -> None:
    game = load("number-wars")
    assert game.timeout_move is not None
    shown = Pick(((0, game.timeout_move),))
    (guess,) = believe(game, (shown,), 1, Random(1), 1)
    assert guess.state == game.play(game.start(), game.timeout_move)


def test_what_cannot_have_been_seen_is_an_error() -> None:
    game = load("cipher-siege")
    for wrong in (Pick(((0, "attack 1"),)), Outcome("7", 0)):
        assert not consistent_events(game, game.start(), wrong, 0)
        with pytest.raises(RuntimeError, match="no state was found"):
            next(believe(game, (wrong,), 0, Random(1), 4))
