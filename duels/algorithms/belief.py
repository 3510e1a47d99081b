"""Beliefs: histories that are consistent with all that a player has observed.

For searches that need a whole state where a player knows only a part of one. Likely courses come up
more often than unlikely ones; nothing is assumed about how the other player chooses.

>>> from random import Random
>>> from duels.core import Match
>>> from duels.games import load
>>> match = Match(load("cipher-siege"), seed=3)
>>> view = match.view(0)
>>> particle = next(believe(view.game, view.history, 0, Random(1), size=1))
>>> particle.state.hands[0] == match.state.hands[0], particle.state.hands[1] == match.state.hands[1]
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product
from typing import TYPE_CHECKING, Any, NamedTuple

from duels.core.game import AnyGame, Chance, Decide, Event, Outcome, Pick

if TYPE_CHECKING:
    from random import Random

ATTEMPTS = 200  # of a search where the particles fail
PATIENCE = 20  # steps, beyond one for each event, before an attempt starts again


class NothingFits(RuntimeError):
    """No course of events was found that fits what a player has seen."""


class Course(NamedTuple):
    """A course of events that may have happened, last event first, and the state it leads to."""

    state: Any
    event: Event | None = None
    before: Course | None = None

    def after(self, game: AnyGame, event: Event) -> Course:
        if isinstance(event, Outcome):
            return Course(game.play(self.state, event.outcome), event, self)
        return Course(game.play(self.state, *(move for _, move in event.moves)), event, self)

    def events(self) -> list[Event]:
        """What has happened, first event first."""
        found: list[Event] = []
        course = self
        while course.before is not None and course.event is not None:
            found.append(course.event)
            course = course.before
        return found[::-1]


def believe(
    game: AnyGame, history: Sequence[Event], viewer: int | None, randomness: Random, size: int
) -> Iterator[Course]:
    """So many courses that a viewer with this history cannot tell from the true one, in any order.

    A particle filter: particles grow side by side, event by event, and those that make the seen
    events likelier get more offspring. Where all of them fail at once, a search with backtracking
    finds courses one by one, as they are asked for.
    """
    particles = [Course(game.start())] * size
    for shown in history:
        grown: list[Course] = []
        weights: list[float] = []
        known: dict[Any, Mapping[Event, float]] = {}
        for particle in particles:
            ways = known.get(particle.state)
            if ways is None:
                ways = known[particle.state] = alike(game, particle.state, shown, viewer)
            if ways:
                grown.append(particle.after(game, _one_of(ways, randomness)))
                weights.append(sum(ways.values()))
        if not grown:
            for _ in range(size):
                yield search(game, history, viewer, randomness)
            return
        particles = _resampled(grown, weights, size, randomness)
    randomness.shuffle(particles)
    yield from particles


def alike(game: AnyGame, state: Any, shown: Event, viewer: int | None) -> Mapping[Event, float]:
    """The events that can happen in a state and look to a viewer like the one shown.

    Each with its odds; moves are equally likely, together as likely as one in the open. An event
    that can happen just as it was shown is the one that did.
    """
    turn = game.turn(state)
    if isinstance(turn, Chance) and isinstance(shown, Outcome):
        outcomes = [shown.outcome] if shown.outcome in turn.odds else turn.odds
        chances = {Outcome(outcome, turn.by): float(turn.odds[outcome]) for outcome in outcomes}
        return {e: odd for e, odd in chances.items() if game.redact(state, e, viewer) == shown}
    if not isinstance(turn, Decide) or not isinstance(shown, Pick):
        return {}
    if game.timeout_move is not None and shown.moves[0][1] == game.timeout_move:
        return {shown: 1.0}
    if [player for player, _ in shown.moves] != sorted(turn.options):
        return {}
    columns = [
        [(player, move)] if move in turn.options[player]
        else [(player, other) for other in turn.options[player]]
        for player, move in shown.moves
    ]  # fmt: skip
    fits = [p for p in map(Pick, product(*columns)) if game.redact(state, p, viewer) == shown]
    return dict.fromkeys(fits, 1 / max(1, len(fits)))


def search(
    game: AnyGame, history: Sequence[Event], viewer: int | None, randomness: Random
) -> Course:
    """Any course that fits: a random search with backtracking.

    One that gets lost among cards that were drawn unseen and played later starts again, with more
    patience each time, which ends sooner than seeing it through.
    """
    for attempt in range(1, ATTEMPTS + 1):
        work = [(0, Course(game.start()))]
        for _ in range(attempt * (PATIENCE + len(history))):
            if not work:
                break
            number, course = work.pop()
            if number == len(history):
                return course
            ways = alike(game, course.state, history[number], viewer)
            # Exponential races: the order of a draw without replacement, by the odds.
            order = sorted(ways, key=lambda event: randomness.expovariate(ways[event]))
            work += [(number + 1, course.after(game, event)) for event in reversed(order)]
    raise NothingFits(f"nothing that fits what was seen was found in {ATTEMPTS} attempts")


def _one_of(ways: Mapping[Event, float], randomness: Random) -> Event:
    events = list(ways)
    if len(events) == 1 and isinstance(events[0], Pick):
        return events[0]
    return randomness.choices(events, list(ways.values()))[0]


def _resampled(
    grown: list[Course], weights: list[float], size: int, randomness: Random
) -> list[Course]:
    """Each course about as often as its weight says: systematic resampling, which loses least."""
    if len(grown) == size and min(weights) == max(weights):
        return grown
    *sums, total = accumulate(weights)
    at, place, step = randomness.random() * total / size, 0, total / size
    found = []
    for number in range(size):
        while place < len(sums) and sums[place] <= at + number * step:
            place += 1
        found.append(grown[place])
    return found
