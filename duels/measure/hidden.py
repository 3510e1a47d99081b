"""Games with hidden hands: a best response that knows only what its player may know.

A small game is a tree of what has happened. The responder cannot tell apart what looks the same to
it, so all of that goes on together, each with its weight: what chance and the policy do to come
there. A choice is the best for all of them at once. That is exact, and as large as the game's tree.

Cipher Siege as it is usually played is far too large for that. For its own strategy a responder is
learned, or was, and what it gains is a lower bound (`duels.measure.siege`).
"""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any, NamedTuple

from duels.core.game import AnyGame, Chance, Decide, Event, Move, Outcome, Over, Pick
from duels.core.match import TURN_LIMIT
from duels.core.player import View
from duels.measure.policies import Asked
from duels.measure.response import BestResponse, HiddenResponse
from duels.measure.result import SELF_PLAY, Exploitability, Seat
from duels.solve.solution import Progress, Unsolved, score

MOST = 1_000_000  # events of a tree: about a minute
# How a larger tree is noticed before it is walked (`Tree._clearly_larger`).
COURSES, STAKE, ENOUGH, HOPELESS, SURE = 1000, 0.1, 1000, 1e-4, 1e9
SEALED = "seals choices and hides hands; that is not measured"
History = tuple[Event, ...]


class Course(NamedTuple):
    """One way things may stand, which the responder cannot tell from those beside it."""

    state: Any
    seen: History  # by the policy
    weight: float
    decisions: int


class Place(NamedTuple):
    """Where a policy chooses, and what it has seen until then."""

    state: Any
    player: int
    options: tuple[Move, ...]
    seen: History


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
        smaller = (
            "a smaller variant, or turn_limit=N (a draw after N choices), can be measured exactly"
        )
        try:
            if self._clearly_larger(most):
                raise _TooLarge
            self.value = self._follow([Course(game.start(), (), 1.0, 0)], ())
        except _TooLarge:
            raise Unsolved(
                f"{game.slug} with these options has more than {most:,} positions to look at, each "
                f"history counted apart; {smaller}"
            ) from None
        except RecursionError:
            raise Unsolved(
                f"games of {game.slug} with this policy go on for too many turns to be followed; "
                f"{smaller}"
            ) from None

    def confirmed(self) -> Tree:
        """This tree, when the policies answer a second time as they did."""
        for policy in self._policies.values():
            policy.confirm()
        return self

    def response(self) -> BestResponse:
        return HiddenResponse(self.game, self.responder, self.value, self.answers)

    def _clearly_larger(self, most: int) -> bool:
        """Whether random courses of play show that the tree has more than `most` events.

        The widths met along a course, multiplied up to each event and added, are expected to be the
        size of the tree (Knuth 1975). So a stake that is multiplied by their ratio to `most` is not
        expected to grow unless the tree is larger, and it ever gets to `SURE` with a probability of
        1 / `SURE` at the most (Ville's inequality).
        """
        luck, wealth = Random("how large the tree is"), 1.0
        for _ in range(COURSES):
            wealth *= 1 - STAKE + STAKE * self._course(luck, ENOUGH * most) / most
            if not HOPELESS < wealth < SURE:
                break
        return wealth >= SURE

    def _course(self, luck: Random, enough: int) -> int:
        """The size of the tree by one random course of play, or `enough` if it is larger."""
        state, decisions, width, size = self.game.start(), 0, 1, 0
        seen: list[History] = [(), ()]
        while size < enough:
            turn = self.game.turn(state)
            if isinstance(turn, Over) or (isinstance(turn, Decide) and decisions >= self._limit):
                return size
            event: Event
            if isinstance(turn, Chance):
                moves = [*turn.odds]
                pick = luck.choice(moves)
                event = Outcome(pick, turn.by)
            else:
                player = self._chooser(turn)
                moves = [*turn.options[player]]
                if player in self._policies:
                    moves = [*self._mixes([Place(state, player, tuple(moves), seen[player])])[0]]
                pick = luck.choice(moves)
                event = Pick(((player, pick),))
                decisions += 1
            width *= len(moves)
            size += width
            seen = [(*seen[who], self.game.redact(state, event, who)) for who in (0, 1)]
            state = self.game.play(state, pick)
        return enough

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
        places: list[Place] = []
        for course, turn in going:
            if isinstance(turn, Decide):
                player = self._chooser(turn)
                history = course.seen if player == self.seat else seen
                places.append(Place(course.state, player, turn.options[player], history))
        mixes = iter(self._mixes(places))
        events: list[tuple[Course, Event, float]] = []
        for course, turn in going:
            if isinstance(turn, Chance):
                for outcome, odd in turn.odds.items():
                    events.append((course, Outcome(outcome, turn.by), float(odd)))
                continue
            player = self._chooser(turn)
            for move, p in next(mixes).items():
                events.append((course, Pick(((player, move),)), p))
        return self._grown(events, seen)

    def _chooser(self, turn: Decide) -> int:
        if len(turn.options) != 1:
            raise Unsolved(f"{self.game.slug} {SEALED}")
        return next(iter(turn.options))

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

    def _mixes(self, places: list[Place]) -> list[dict[Move, float]]:
        """How the policies choose. What looks the same to a player is asked about once."""
        keys: list[Any] = []
        unknown: dict[Any, View] = {}
        for state, player, options, seen in places:
            policy = self._policies[player]
            view = View(self.game, player, self.game.observe(state, player), seen, options)
            key = player, view.observation, policy.past(view)
            keys.append(key)
            if key not in self._known:
                unknown[key] = view
        for seat, policy in self._policies.items():
            new = {key: view for key, view in unknown.items() if key[0] == seat}
            if new:
                self._known.update(zip(new, policy.mixes([*new.values()]), strict=True))
        return [self._known[key] for key in keys]


class _TooLarge(Exception):
    pass


def hidden_exploitability(
    game: AnyGame, policies: tuple[Asked, Asked], turn_limit: int | None, seconds: float | None,
    progress: Progress | None,
) -> Exploitability:  # fmt: skip
    """Exactly where the tree is small, else as far as the game's own strategy can be measured.

    What perfect play scores is not known here, so a seat's exploitability is what the best response
    wins more than the policies' own play against each other. Both seats together it is the same.
    """
    from duels.measure import siege

    if turn_limit is None and all(siege.measures(game, policy) for policy in policies):
        return siege.lower_bound(game, seconds, progress)
    with siege.hinting(game):
        trees = [Tree(game, seat, policies[seat], turn_limit=turn_limit) for seat in (0, 1)]
        for policy in policies:
            policy.confirm()
        itself = 1 - Tree(game, 0, *policies, turn_limit=turn_limit).value
    seats = []
    for seat, (tree, policy) in enumerate(zip(trees, policies, strict=True)):
        own = itself if seat == 0 else 1 - itself
        seats.append(Seat(game, seat, own, None, 1 - tree.value, asked=policy))
        seats[seat].require_best()
    return Exploitability(game, (seats[0], seats[1]), SELF_PLAY)


def hidden_response(
    game: AnyGame, policy: Asked, seat: int, turn_limit: int | None, seconds: float | None,
    progress: Progress | None,
) -> BestResponse:  # fmt: skip
    """The best response to a policy in the other seat, as `hidden_exploitability` measures it."""
    from duels.measure import siege

    if turn_limit is None and siege.measures(game, policy):
        return siege.learned_response(game, seat, seconds, progress)
    with siege.hinting(game):
        tree = Tree(game, 1 - seat, policy, turn_limit=turn_limit)
    policy.confirm()
    return tree.response()
