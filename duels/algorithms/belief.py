"""Beliefs: samples of the histories that are consistent with all that a player has observed.

A search uses them to get complete states where a player knows only a part. The probability of a
history is proportional to the odds of its chance events; nothing is assumed about how the other
player chooses, so hidden moves that look alike are equally likely. If few states are consistent,
samples are from exactly this posterior; if there are many, from an approximation of it.

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

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from duels.core.game import AnyGame, Chance, Decide, Event, Outcome, Pick

if TYPE_CHECKING:
    from random import Random

STATES = 400  # consistent states that are followed at a time; of more, a random sample is
ATTEMPTS = 4  # to follow a history, each with twice as many states, where no sampled state fits

K = TypeVar("K")


class NoConsistentState(RuntimeError):
    """No course of events was found that is consistent with what a player has seen."""


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


# Of each state that is consistent with the first events: where it may come from, by which event,
# and the weight of that.
Layer = dict[Any, list[tuple[float, Any, Event]]]


def posterior(
    game: AnyGame, history: Sequence[Event], viewer: int | None
) -> dict[Any, float] | None:
    """The probability of each state that is consistent with a history; None if there are too many.

    >>> from duels.games import load
    >>> game = load("cipher-siege", values=2, copies=2, hand=1, limit=2)
    >>> found = posterior(game, [Outcome("1", 0), Outcome("?", 1)], 0)
    >>> {state.hands: round(chance, 3) for state, chance in found.items()}
    {((1,), (1,)): 0.333, ((1,), (2,)): 0.667}
    """
    layers = _layers(game, history, viewer, STATES)
    if layers is None:
        return None
    weights = {state: _weight(ways) for state, ways in layers[-1].items()}
    total = sum(weights.values())
    return {state: weight / total for state, weight in weights.items()}


def believe(
    game: AnyGame, history: Sequence[Event], viewer: int | None, randomness: Random, size: int
) -> Iterator[Course]:
    """Sample `size` courses of events that are consistent with a viewer's history, in any order.

    Forward filtering, backward sampling: the weights of all consistent states are followed event by
    event, and courses are drawn from the end to the beginning.
    """
    for attempt in range(ATTEMPTS):
        layers = _layers(game, history, viewer, STATES << attempt, randomness)
        if layers is not None and layers[-1]:
            break
    else:
        raise NoConsistentState("no state was found that is consistent with the history")
    for _ in range(size):
        yield _drawn(game, layers, randomness)


def _layers(
    game: AnyGame,
    history: Sequence[Event],
    viewer: int | None,
    most: int,
    randomness: Random | None = None,
) -> list[Layer] | None:
    """The consistent states after each number of events; of more than `most`, a random sample.

    Without `randomness` nothing is sampled; the result is None if there are too many.
    """
    layers: list[Layer] = [{game.start(): []}]
    for shown in history:
        after: Layer = {}
        for state, before in layers[-1].items():
            weight = _weight(before)
            for event, odd in consistent_events(game, state, shown, viewer).items():
                reached = Course(state).after(game, event).state
                after.setdefault(reached, []).append((weight * odd, state, event))
        if len(after) > most:
            if randomness is None:
                return None
            after = _sampled(after, most, randomness)
        layers.append(after)
    return layers


def _weight(ways: Sequence[tuple[float, Any, Event]]) -> float:
    return sum(weight for weight, _, _ in ways) if ways else 1.0  # only the start has none


def _sampled(layer: Layer, size: int, randomness: Random) -> Layer:
    """A random sample of the states of a layer; the expected weight of each state is unchanged."""
    weights = [_weight(ways) for ways in layer.values()]
    chosen = Counter(randomness.choices(list(layer), weights, k=size))
    each = sum(weights) / size
    return {
        state: [
            (count * each * w / _weight(layer[state]), before, event)
            for w, before, event in layer[state]
        ]
        for state, count in chosen.items()
    }


def _drawn(game: AnyGame, layers: list[Layer], randomness: Random) -> Course:
    """Draw a course, from its end to its beginning."""
    state = _one_of({state: _weight(ways) for state, ways in layers[-1].items()}, randomness)
    events: list[Event] = []
    for layer in reversed(layers[1:]):
        ways = layer[state]
        number = _one_of({n: weight for n, (weight, _, _) in enumerate(ways)}, randomness)
        _, state, event = ways[number]
        events.append(event)
    course = Course(state)
    for event in reversed(events):
        course = course.after(game, event)
    return course


def consistent_events(
    game: AnyGame, state: Any, shown: Event, viewer: int | None
) -> Mapping[Event, float]:
    """The events that can happen in a state and look to a viewer like the one shown.

    Each comes with its odds; hidden moves share the odds of one move equally. If an event is
    possible exactly as it was shown, it is the only one.
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


def _one_of(ways: Mapping[K, float], randomness: Random) -> K:
    """One of these, by its weight; nothing is drawn where there is no choice."""
    if len(ways) == 1:
        return next(iter(ways))
    return randomness.choices(list(ways), list(ways.values()))[0]
