"""What a player believes fits what was seen, as likely as it should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from duels.algorithms import belief
from duels.algorithms.belief import Course, alike, believe, search
from duels.core.chance import stream
from duels.core.game import AnyGame, Event, Outcome, Pick
from duels.core.match import Match
from duels.games import load
from duels.games.number_clash.rules import NumberClash, State
from duels.players import make

SECRETS: list[AnyGame] = [
    load("cipher-siege"),
    load("cipher-siege", swap="chosen"),
    load("cipher-siege", values=2, copies=2, integrity=6, hand=2, limit=2, swap="chosen"),
]


def played(game: AnyGame, seed: int, turn_limit: int = 30) -> Match:
    match = Match(game, seed, turn_limit=turn_limit)
    seats = [make("random", stream(seed, player)) for player in (0, 1)]
    while match.result is None:
        for player in match.deciders:
            match.submit(player, seats[player].choose(match.view(player)))
    return match


def searched(
    game: AnyGame, history: tuple[Event, ...], viewer: int, randomness: Random, size: int
) -> Iterator[Course]:
    """As where no particle survives."""
    for _ in range(size):
        yield search(game, history, viewer, randomness)


@pytest.mark.parametrize("sample", [believe, searched])
@pytest.mark.parametrize("game", SECRETS, ids=str)
def test_what_is_believed_fits_what_was_seen(
    game: AnyGame, sample: Callable[..., Iterator[Course]]
) -> None:
    match, checked, others = played(game, 5), 0, 0
    for number in match.line:
        if isinstance(match.events[number], Pick):
            for player in (0, 1):
                view = match.view_before(number, player)
                for guess in sample(game, view.history, player, Random(number), 8):
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


def posterior(game: AnyGame, history: tuple[Event, ...], viewer: int) -> dict[object, float]:
    """Every state that fits, with how likely it is: no sample, all of them."""
    weights: dict[Course, float] = {Course(game.start()): 1.0}
    for shown in history:
        grown: Counter[Course] = Counter()
        for course, weight in weights.items():
            for event, odd in alike(game, course.state, shown, viewer).items():
                grown[Course(course.after(game, event).state)] += weight * odd  # type: ignore[assignment]
        weights = dict(grown)
    total = sum(weights.values())
    return {course.state: weight / total for course, weight in weights.items()}


@pytest.mark.parametrize("game", SECRETS[:2], ids=str)
def test_likely_courses_come_up_as_often_as_they_should(game: AnyGame) -> None:
    """Against the whole list of what fits, where the other player has shown some cards."""
    match = played(game, 9, turn_limit=3)
    view = match.view(0)
    true = posterior(game, view.history, 0)
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
    true = posterior(game, history, 0)
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
        assert not alike(game, game.start(), wrong, 0)
        with pytest.raises(RuntimeError, match="nothing that fits"):
            next(believe(game, (wrong,), 0, Random(1), 4))


def test_a_search_takes_over_where_every_particle_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """One particle rarely guesses the cards that the other player will show."""
    game, taken_over = load("cipher-siege"), []

    def counted(*given: Any) -> Course:
        taken_over.append(given)
        return search(*given)

    monkeypatch.setattr(belief, "search", counted)
    for seed in range(20):
        view = played(game, seed, turn_limit=6).view(0)
        (guess,) = believe(game, view.history, 0, Random(seed), 1)
        assert game.observe(guess.state, 0) == view.observation
    assert 0 < len(taken_over) < 20
