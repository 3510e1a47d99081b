"""Best responses in games with hidden hands, which use only what the responder may know.

A small game is enumerated as a tree of histories. The responder cannot distinguish histories that
look the same to it, so they are followed together, each weighted by the probability that chance and
the policy lead to it. A choice is the best one for all of them at once. The result is exact, and
the work is proportional to the size of the tree.

Cipher Siege with default options is far too large for that. Against its own strategy a responder is
learned, and what it gains is a lower bound (`duels.measure.learned`).
"""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.solution import Progress, Unsolved
from duels.algorithms.solutions import solve
from duels.algorithms.tree_size import clearly_larger
from duels.core.game import AnyGame, Chance, Decide, Event, Move, Outcome, Over, Pick
from duels.core.match import TURN_LIMIT
from duels.core.payoffs import unit_of
from duels.core.player import View
from duels.measure import learned
from duels.measure.policies import QueriedPolicy
from duels.measure.response import BestResponse, HiddenResponse
from duels.measure.result import SELF_PLAY, Exploitability, SeatResult

MOST = 1_000_000  # events of a tree: about a minute
SEALED = "has both sealed choices and hidden hands; this cannot be measured"
History = tuple[Event, ...]


class WeightedState(NamedTuple):
    """A state with its probability, indistinguishable to the responder from others of a group."""

    state: Any
    seen: History  # by the policy's player
    weight: float
    decisions: int


class DecisionPoint(NamedTuple):
    """A state in which a policy chooses, and what its player has seen."""

    state: Any
    player: int
    options: tuple[Move, ...]
    seen: History


class ResponseTree:
    """The best response to a policy in one seat of a small game, or with `other`, that policy.

    `value` is the responder's expected score, `answers` are its choices by what it has seen. A game
    that reaches the turn limit is a draw, as in a match.

    `InfostateTree` follows every move of both players. This follows only the moves that the policy
    makes and queries it only there: in half of the time if the policy makes every move, in a small
    part of it if the policy is deterministic. The two share no code, and tests compare them.
    """

    def __init__(
        self,
        game: AnyGame,
        seat: int,
        policy: QueriedPolicy,
        other: QueriedPolicy | None = None,
        *,
        turn_limit: int | None = None,
        most: int = MOST,
    ) -> None:
        self.game, self.seat, self.responder = game, seat, 1 - seat
        self.unit = unit_of(game)
        self._policies = {seat: policy}
        if other is not None:
            self._policies[self.responder] = other
        self._limit = TURN_LIMIT if turn_limit is None else turn_limit
        self._left = most
        self._known: dict[Any, dict[Move, float]] = {}
        self.answers: dict[History, Move] = {}
        smaller = (
            "a smaller variant, or a turn limit (--turn-limit N, in Python turn_limit=N), with "
            "which the game is a draw after N choices, can be measured exactly"
        )
        try:
            randomness = Random("how large the tree is")
            if clearly_larger(lambda enough: self._estimated_size(randomness, enough), most):
                raise _TooLarge
            self.value = self._follow([WeightedState(game.start(), (), 1.0, 0)], ())
        except _TooLarge:
            raise Unsolved(
                f"{game.slug} with these options has more than {most:,} positions to look at, each "
                f"history counted separately; {smaller}"
            ) from None
        except RecursionError:
            raise Unsolved(
                f"games of {game.slug} with this policy go on for too many turns to be followed; "
                f"{smaller}"
            ) from None

    def confirmed(self) -> ResponseTree:
        """This tree, after a check that the policies are consistent."""
        for policy in self._policies.values():
            policy.confirm()
        return self

    def response(self) -> BestResponse:
        return HiddenResponse(self.game, self.responder, self.value, self.answers)

    def _estimated_size(self, rng: Random, enough: int) -> int:
        """An estimate of the size of the tree by one random playout, at most `enough`."""
        state, decisions, width, size = self.game.start(), 0, 1, 0
        seen: list[History] = [(), ()]
        while size < enough:
            turn = self.game.turn(state)
            if isinstance(turn, Over) or (isinstance(turn, Decide) and decisions >= self._limit):
                return size
            event: Event
            if isinstance(turn, Chance):
                moves = [*turn.odds]
                pick = rng.choice(moves)
                event = Outcome(pick, turn.by)
            else:
                player = self._chooser(turn)
                moves = [*turn.options[player]]
                if player in self._policies:
                    moves = [
                        *self._strategies(
                            [DecisionPoint(state, player, tuple(moves), seen[player])]
                        )[0]
                    ]
                pick = rng.choice(moves)
                event = Pick(((player, pick),))
                decisions += 1
            width *= len(moves)
            size += width
            seen = [(*seen[who], self.game.redact(state, event, who)) for who in (0, 1)]
            state = self.game.play(state, pick)
        return enough

    def _follow(self, group: list[WeightedState], seen: History) -> float:
        """The responder's expected score in a group of states, weighted by probability."""
        total = 0.0
        going: list[tuple[WeightedState, Decide | Chance]] = []
        for weighted in group:
            turn = self.game.turn(weighted.state)
            if isinstance(turn, Decide) and weighted.decisions >= self._limit:
                total += float(self.unit.draw) * weighted.weight
            elif isinstance(turn, Over):
                value = self.unit.end(turn)
                own = value if self.responder == 0 else self.unit.other(value)
                total += weighted.weight * float(own)
            else:
                going.append((weighted, turn))
        choosing = [isinstance(t, Decide) and self.responder in t.options for _, t in going]
        if not any(choosing) or self.responder in self._policies:
            return total + self._play_known(going, seen)
        known = {tuple(turn.options.items()) for _, turn in going if isinstance(turn, Decide)}
        if not all(choosing) or len(known) != 1:
            raise Unsolved(f"in {self.game.slug} players do not always know their own options")
        ((player, options), *sealed) = known.pop()
        if sealed:
            raise Unsolved(f"{self.game.slug} {SEALED}")
        worth = {
            move: self._after_events(
                [(weighted, Pick(((player, move),)), 1.0) for weighted, _ in going], seen
            )
            for move in options
        }
        best = max(worth, key=lambda move: worth[move])
        self.answers[seen] = best
        return total + worth[best]

    def _play_known(
        self, going: list[tuple[WeightedState, Decide | Chance]], seen: History
    ) -> float:
        """Play a chance event, or a choice of a player with a known policy."""
        points: list[DecisionPoint] = []
        for weighted, turn in going:
            if isinstance(turn, Decide):
                player = self._chooser(turn)
                history = weighted.seen if player == self.seat else seen
                points.append(DecisionPoint(weighted.state, player, turn.options[player], history))
        strategies = iter(self._strategies(points))
        events: list[tuple[WeightedState, Event, float]] = []
        for weighted, turn in going:
            if isinstance(turn, Chance):
                for outcome, odd in turn.odds.items():
                    events.append((weighted, Outcome(outcome, turn.by), float(odd)))
                continue
            player = self._chooser(turn)
            for move, p in next(strategies).items():
                events.append((weighted, Pick(((player, move),)), p))
        return self._after_events(events, seen)

    def _chooser(self, turn: Decide) -> int:
        if len(turn.options) != 1:
            raise Unsolved(f"{self.game.slug} {SEALED}")
        return next(iter(turn.options))

    def _after_events(
        self, events: list[tuple[WeightedState, Event, float]], seen: History
    ) -> float:
        """Play one event in each state, grouped by what the responder sees of it."""
        self._left -= len(events)
        if self._left < 0:
            raise _TooLarge
        groups: defaultdict[Event, list[WeightedState]] = defaultdict(list)
        for weighted, event, p in events:
            state = weighted.state
            picks = [m for _, m in event.moves] if isinstance(event, Pick) else [event.outcome]
            mine = self.game.redact(state, event, self.seat)
            groups[self.game.redact(state, event, self.responder)].append(
                WeightedState(
                    self.game.play(state, *picks), (*weighted.seen, mine), weighted.weight * p,
                    weighted.decisions + isinstance(event, Pick),
                )
            )  # fmt: skip
        return sum(self._follow(group, (*seen, shown)) for shown, group in groups.items())

    def _strategies(self, points: list[DecisionPoint]) -> list[dict[Move, float]]:
        """The policies' mixed strategies; what looks the same to a player is queried once."""
        keys: list[Any] = []
        unknown: dict[Any, View] = {}
        for state, player, options, seen in points:
            policy = self._policies[player]
            view = View(self.game, player, self.game.observe(state, player), seen, options)
            key = player, view.observation, policy.past(view)
            keys.append(key)
            if key not in self._known:
                unknown[key] = view
        for seat, policy in self._policies.items():
            new = {key: view for key, view in unknown.items() if key[0] == seat}
            if new:
                self._known.update(zip(new, policy.strategies([*new.values()]), strict=True))
        return [self._known[key] for key in keys]


class _TooLarge(Exception):
    pass


def hidden_exploitability(
    game: AnyGame, policies: tuple[QueriedPolicy, QueriedPolicy], turn_limit: int | None,
    seconds: float | None, progress: Progress | None,
) -> Exploitability:  # fmt: skip
    """The exact exploitability in a small game; for a game's own strategy, a lower bound.

    A solution is an approximation, so a seat's exploitability is relative to the policies against
    each other. The sum over both seats is the same. Without a turn limit, and if the game has a
    solution, the values against that are given too.
    """
    if turn_limit is None and all(learned.measurable(game, policy) for policy in policies):
        return learned.lower_bound(game, seconds, progress)
    with learned.hint_in_errors(game):
        trees = [ResponseTree(game, seat, policies[seat], turn_limit=turn_limit) for seat in (0, 1)]
        for policy in policies:
            policy.confirm()
        total = unit_of(game).total
        itself = total - ResponseTree(game, 0, *policies, turn_limit=turn_limit).value
    perfect = None if turn_limit is not None else _perfect(game, progress)
    seats = []
    for seat, (tree, policy) in enumerate(zip(trees, policies, strict=True)):
        own = itself if seat == 0 else total - itself
        against = None
        if perfect is not None:
            against = total - ResponseTree(game, seat, policy, perfect).value
        seats.append(SeatResult(game, seat, own, against, total - tree.value, policy=policy))
        seats[seat].require_best()
    return Exploitability(game, (seats[0], seats[1]), SELF_PLAY)


def _perfect(game: AnyGame, progress: Progress | None) -> QueriedPolicy | None:
    """The player that follows the game's solution; None if there is none."""
    try:
        solve(game, progress)
    except Unsolved:
        return None
    return QueriedPolicy(game, "perfect")


def hidden_response(
    game: AnyGame, policy: QueriedPolicy, seat: int, turn_limit: int | None, seconds: float | None,
    progress: Progress | None,
) -> BestResponse:  # fmt: skip
    """The best response to a policy in the other seat, as `hidden_exploitability` measures it."""
    if turn_limit is None and learned.measurable(game, policy):
        return learned.learned_player(game, seat, seconds, progress)
    with learned.hint_in_errors(game):
        tree = ResponseTree(game, 1 - seat, policy, turn_limit=turn_limit)
    policy.confirm()
    return tree.response()
