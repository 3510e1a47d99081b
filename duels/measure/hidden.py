"""Games with hidden hands: a best response that knows only what its player may know.

A small game is a tree of what has happened. The responder cannot tell apart what looks the same to
it, so all of that goes on together, each with its weight: what chance and the policy do to come
there. A choice is the best for all of them at once. That is exact, and as large as the game's tree.

Cipher Siege as it is usually played is far too large for that. For its own strategy a responder is
learned, or was, and what it gains is a lower bound (`duels.measure.siege`).
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from duels.core.game import AnyGame, Chance, Decide, Event, Move, Outcome, Over, Pick
from duels.core.match import TURN_LIMIT
from duels.core.player import View
from duels.measure.policies import Asked
from duels.measure.result import SELF_PLAY, Exploitability, Seat
from duels.solve.solution import Progress, Unsolved, score

MOST = 1_000_000  # events of a tree: about a minute
SEALED = "seals choices and hides hands; that is not measured"
History = tuple[Event, ...]


class Course(NamedTuple):
    """One way things may stand, which the responder cannot tell from those beside it."""

    state: Any
    seen: History  # by the policy
    weight: float
    decisions: int


class Tree:
    """The best response to a policy in one seat of a small game; or, with `other`, that player.

    `value` is the responder's expected score, and `answers` what it chooses by what it has seen. A
    game that reaches the turn limit is a draw, as in a match.
    """

    def __init__(
        self,
        game: AnyGame,
        seat: int,
        policy: Asked,
        other: Asked | None = None,
        *,
        turn_limit: int | None = None,
        most: int = MOST,
    ) -> None:
        self.game, self.seat, self.responder = game, seat, 1 - seat
        self._policies = {seat: policy}
        if other is not None:
            self._policies[self.responder] = other
        self._limit = TURN_LIMIT if turn_limit is None else turn_limit
        self._left = most
        self._known: dict[Any, dict[Move, float]] = {}
        self.answers: dict[History, Move] = {}
        try:
            self.value = self._follow([Course(game.start(), (), 1.0, 0)], ())
        except (_TooLarge, RecursionError):
            raise Unsolved(
                f"{game.slug} with these options has more than {most:,} events to look at; a "
                "smaller variant, or turn_limit=N (a draw after N choices), can be measured exactly"
            ) from None

    def _follow(self, courses: list[Course], seen: History) -> float:
        """What the responder scores in all, each course by its weight."""
        total = 0.0
        going: list[tuple[Course, Decide | Chance]] = []
        for course in courses:
            turn = self.game.turn(course.state)
            if isinstance(turn, Decide) and course.decisions >= self._limit:
                total += 0.5 * course.weight
            elif isinstance(turn, Over):
                points = float(score(turn))
                total += course.weight * (points if self.responder == 0 else 1 - points)
            else:
                going.append((course, turn))
        choosing = [isinstance(t, Decide) and self.responder in t.options for _, t in going]
        if not any(choosing) or self.responder in self._policies:
            return total + self._go_on(going, seen)
        known = {tuple(turn.options.items()) for _, turn in going if isinstance(turn, Decide)}
        if not all(choosing) or len(known) != 1:
            raise Unsolved(f"in {self.game.slug} a player does not always know what can be chosen")
        ((player, options), *sealed) = known.pop()
        if sealed:
            raise Unsolved(f"{self.game.slug} {SEALED}")
        worth = {
            move: self._grown([(course, Pick(((player, move),)), 1.0) for course, _ in going], seen)
            for move in options
        }
        best = max(worth, key=lambda move: worth[move])
        self.answers[seen] = best
        return total + worth[best]

    def _go_on(self, going: list[tuple[Course, Decide | Chance]], seen: History) -> float:
        """Chance, or a player whose mix is known."""
        events: list[tuple[Course, Event, float]] = []
        for course, turn in going:
            if isinstance(turn, Chance):
                for outcome, odd in turn.odds.items():
                    events.append((course, Outcome(outcome, turn.by), float(odd)))
                continue
            if len(turn.options) != 1:
                raise Unsolved(f"{self.game.slug} {SEALED}")
            ((player, options),) = turn.options.items()
            history = course.seen if player == self.seat else seen
            for move, p in self._mix(course.state, player, options, history).items():
                events.append((course, Pick(((player, move),)), p))
        return self._grown(events, seen)

    def _grown(self, events: list[tuple[Course, Event, float]], seen: History) -> float:
        """One event further, apart by what the responder sees of it."""
        self._left -= len(events)
        if self._left < 0:
            raise _TooLarge
        groups: defaultdict[Event, list[Course]] = defaultdict(list)
        for course, event, p in events:
            state = course.state
            picks = [m for _, m in event.moves] if isinstance(event, Pick) else [event.outcome]
            mine = self.game.redact(state, event, self.seat)
            groups[self.game.redact(state, event, self.responder)].append(
                Course(
                    self.game.play(state, *picks), (*course.seen, mine), course.weight * p,
                    course.decisions + isinstance(event, Pick),
                )
            )  # fmt: skip
        return sum(self._follow(group, (*seen, shown)) for shown, group in groups.items())

    def _mix(
        self, state: Any, player: int, options: tuple[Move, ...], seen: History
    ) -> dict[Move, float]:
        """Asked once for all that looks the same to the player; what it saw may count."""
        policy = self._policies[player]
        observation = self.game.observe(state, player)
        key = (player, observation) if policy.array is not None else (player, observation, seen)
        found = self._known.get(key)
        if found is None:
            (found,) = policy.mixes([View(self.game, player, observation, seen, options)])
            self._known[key] = found
        return found


class _TooLarge(Exception):
    pass


def hidden_exploitability(
    game: AnyGame, policy: Asked, turn_limit: int | None, seconds: float | None,
    progress: Progress | None,
) -> Exploitability:  # fmt: skip
    """Exactly where the tree is small, else as far as the game's own strategy can be measured.

    What perfect play scores is not known here, so a seat's exploitability is what the best response
    wins more than the policy itself would there. Both seats together it is the same number.
    """
    from duels.measure import siege

    if turn_limit is None and siege.measures(game, policy):
        return siege.lower_bound(game, seconds, progress)
    try:
        scores = [1 - Tree(game, seat, policy, turn_limit=turn_limit).value for seat in (0, 1)]
        itself = 1 - Tree(game, 0, policy, policy, turn_limit=turn_limit).value
    except Unsolved as error:
        raise Unsolved(f"{error}{siege.hint(game)}") from None
    one = Seat(game, 0, itself, None, scores[0])
    return Exploitability(game, (one, Seat(game, 1, 1 - itself, None, scores[1])), SELF_PLAY)
