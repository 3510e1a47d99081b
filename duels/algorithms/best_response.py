"""Best response to a known policy by enumeration of the states that can be reached, from the rules.

The policy's choices become chance events; what is left is a decision problem of one player. This
shares no code with the solvers. `duels.measure.compiled_enumeration` does the same for large games.

>>> from duels.games import load
>>> game = load("firewall-breach", strength=2)
>>> never_risk = {"bypass": 1.0}
>>> response = Enumeration(game, 1, lambda states, seat: [never_risk] * len(states))
>>> len(response.states), response.value            # the responder's expected score
(10, 1.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from duels.algorithms.response_graph import DRAWN, LOST, PLAIN, POLICY, RESPONDER, WON, Graph
from duels.algorithms.solution import Progress, Unsolved
from duels.core.game import AnyGame, Chance, Decide, Move, Over
from duels.core.payoffs import unit_of

Ask = Callable[
    [Sequence[Any], int], Sequence[Mapping[Move, float]]
]  # states in which a seat chooses
LARGEST = 1_000_000  # transitions, which Python enumerates in about 15 s


class TooLarge(Unsolved):
    """More transitions between states than were allowed."""

    def __init__(self, game: AnyGame, largest: int) -> None:
        super().__init__(f"{game.slug} has more than {largest:,} transitions between positions")


class Enumeration:
    """All states that a policy in `seat` and any responder in the other seat can reach.

    Values are the responder's parts of what is possible (`Unit.part`): its expected score, or in a
    game with payoffs, from 0 for the highest loss to 1 for the highest win. With `answers` the
    responder's policy is fixed too, and values are those of the two policies
    against each other. `allowed` restricts the moves of a responder that is not fixed.
    """

    def __init__(
        self,
        game: AnyGame,
        seat: int,
        ask: Ask,
        answers: Ask | None = None,
        *,
        allowed: Callable[[Any], Sequence[Move]] | None = None,
        largest: int = LARGEST,
        progress: Progress | None = None,
    ) -> None:
        if game.private:
            raise Unsolved(
                f"{game.slug} has hidden hands: a response to its states would see the cards"
            )
        self.unit = unit_of(game)
        self.game, self.seat, self.responder = game, seat, 1 - seat
        self._ask, self._answers, self._allowed = ask, answers, allowed
        self._largest, self._progress = largest, progress
        self.states: list[Any] = []
        self._seen: dict[Any, Any] = {}
        self.number: dict[Any, int] = {}
        self.moves: list[list[Move]] = []  # of the policy, in the order of `graph.chance`
        at_own, at_child = [0], [0]
        chance: list[float] = []
        child: list[int] = []
        chooser: list[int] = []
        self.graph = Graph(at_own, chance, at_child, child, chooser, True)
        self._end = self._number(game.start())
        self._enumerate()

    def _enumerate(self) -> None:
        done = 0
        while done < len(self.states):
            wave = self.states[done:]
            turns = [self.game.turn(state) for state in wave]
            mine = self._strategies(self._ask, wave, turns, self.seat)
            theirs = (
                self._strategies(self._answers, wave, turns, self.responder)
                if self._answers
                else {}
            )
            for index, (state, turn) in enumerate(zip(wave, turns, strict=True)):
                if isinstance(turn, Over):
                    self._expand_end(turn)
                else:
                    self._expand(state, turn, mine.get(index), theirs.get(index))
                if len(self.graph.child) > self._largest:
                    raise TooLarge(self.game, self._largest)
            done += len(wave)
            if self._progress is not None:
                self._progress(done / len(self.states), f"{len(self.states):,} positions")

    def _strategies(
        self, ask: Ask, wave: list[Any], turns: list[Any], seat: int
    ) -> dict[int, Mapping[Move, float]]:
        indices = [
            n for n, turn in enumerate(turns) if isinstance(turn, Decide) and seat in turn.options
        ]
        strategies = ask([wave[index] for index in indices], seat) if indices else []
        return dict(zip(indices, strategies, strict=True))

    def _expand(
        self, state: Any, turn: Decide | Chance, mine: Mapping[Move, float] | None,
        theirs: Mapping[Move, float] | None,
    ) -> None:  # fmt: skip
        play, graph = self.game.play, self.graph
        own: list[tuple[tuple[Move, ...], float]]
        answers: list[tuple[Move, ...]] = [()]
        who = 0
        if isinstance(turn, Chance):
            own = [((outcome,), float(odd)) for outcome, odd in turn.odds.items()]
        else:
            self._check_observations(state, turn)
            own = [((), 1.0)]
            if mine is not None:
                own = [((move,), p) for move, p in mine.items() if p]
                who |= POLICY
            if self.responder in turn.options:
                answers = [(move,) for move in self._options(state, turn)]
                who |= RESPONDER
        if theirs is not None:
            assert self._answers is not None
            pairs = [(self._pair(a, (b,)), p * q) for a, p in own for b, q in theirs.items()]
            own, answers = pairs, [()]
            children = [self._number(play(state, *picks)) for picks, _ in own]
        else:
            children = [
                self._number(play(state, *self._pair(a, b))) for a, _ in own for b in answers
            ]
        self.moves.append([picks[0] if picks else "" for picks, _ in own])
        graph.chance.extend(p for _, p in own)
        graph.at_own.append(len(graph.chance))
        graph.child.extend(children)
        graph.at_child.append(len(graph.child))
        graph.chooser.append(who)

    def _expand_end(self, turn: Over) -> None:
        """An end of a game with payoffs: won or lost with the odds that are worth as much."""
        part = self.unit.part(self.unit.end(turn))
        won = part if self.responder == 0 else 1 - part
        self.moves.append(["", ""])
        self.graph.chance.extend((won, 1 - won))
        self.graph.at_own.append(len(self.graph.chance))
        self.graph.child.extend((WON, LOST))
        self.graph.at_child.append(len(self.graph.child))
        self.graph.chooser.append(0)

    def _check_observations(self, state: Any, turn: Decide) -> None:
        """Raise `Unsolved` if two states look the same to a player who chooses in them."""
        for player in turn.options:
            seen = player, self.game.observe(state, player)
            if self._seen.setdefault(seen, state) != state:
                raise Unsolved(
                    f"{self.game.slug} has hidden information: a response to its states would know "
                    "more than a player does"
                )

    def _options(self, state: Any, turn: Decide) -> Sequence[Move]:
        """The moves of the responder, in a fixed order."""
        return turn.options[self.responder] if self._allowed is None else self._allowed(state)

    def _pair(self, mine: tuple[Move, ...], theirs: tuple[Move, ...]) -> tuple[Move, ...]:
        return (*mine, *theirs) if self.seat == 0 else (*theirs, *mine)

    def _number(self, state: Any) -> int:
        """The number of a state, or LOST, DRAWN or WON at the end of a game."""
        found = self.number.get(state)
        if found is None:
            turn = self.game.turn(state)
            if isinstance(turn, Over) and not self.unit.pays:
                winner = turn.winner
                found = DRAWN if winner is None else WON if winner == self.responder else LOST
            else:
                found = len(self.states)
                self.states.append(state)
            self.number[state] = found
        return found

    # Results, computed when they are first needed.

    def __len__(self) -> int:
        return len(self.states)

    def state(self, number: int) -> Any:
        return self.states[number]

    def answer(self, number: int) -> Move:
        """A best answer in a state where the responder chooses."""
        turn = self.game.turn(self.states[number])
        assert isinstance(turn, Decide)
        return self._options(self.states[number], turn)[self.answers[number]]

    def find(self, state: Any) -> int:
        """The number of a state, -1 if it cannot be reached against the policy."""
        return max(-1, self.number.get(state, -1))

    @cached_property
    def _order(self) -> tuple[list[int], list[int], int]:
        size = len(self.states)
        order, ends, low, found, stack, work, place = ([-1] * (size + 1) for _ in range(7))
        graph = self.graph
        parts = PLAIN.components(
            graph.at_child, graph.child, order, ends, low, found, stack, work, place
        )
        return order, ends, parts

    @property
    def value(self) -> float:
        """The responder's expected score."""
        return self.values()[0]

    def answer_value(self, number: int, move: Move) -> float:
        """The responder's expected score of a move in a state where only the responder chooses."""
        state, values, child = self.states[number], self.values(), self.graph.child
        turn = self.game.turn(state)
        assert isinstance(turn, Decide)
        found = child[self.graph.at_child[number] + self._options(state, turn).index(move)]
        return float(values[found] if found >= 0 else (-1 - found) / 2)

    @cached_property
    def _settled(self) -> list[float]:
        value = [0.5] * len(self.states)
        PLAIN.settle(*self.graph[:4], *self._order, value)
        return value

    def values(self) -> list[float]:
        """The responder's expected score in each state, with best answers."""
        if not self.states:
            return [(-1 - self._end) / 2]
        return self._settled

    @cached_property
    def answers(self) -> list[int]:
        """The index of a best answer in each state."""
        answer = [-1] * len(self.states)
        PLAIN.best(*self.graph[:4], *self._order, self.values(), answer)
        return answer

    def visits(self) -> list[float]:
        """The expected number of visits to each state in a game against the best response."""
        size = len(self.states)
        mass, visited = [1.0] + [0.0] * (size - 1), [0.0] * size
        PLAIN.visits(*self.graph[:4], *self._order, self.answers, mass, visited)
        return visited

    def regrets(self, optimal: list[float]) -> list[float]:
        """The policy's regret in each state; `optimal` are the responder's optimal values."""
        out = [0.0] * len(self.states)
        PLAIN.gains(*self.graph[:4], optimal, out)
        return out

    def mixed_strategy(self, number: int) -> dict[Move, float]:
        own = self.graph.at_own
        return dict(
            zip(self.moves[number], self.graph.chance[own[number] : own[number + 1]], strict=True)
        )


def by_state(policy: Callable[[Any], Mapping[Move, float]]) -> Ask:
    """A policy over single states as `Enumeration` takes it."""
    return lambda states, seat: [policy(state) for state in states]
