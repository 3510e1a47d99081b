"""The walk over a game's pure rules: the reference, and all that small games need.

>>> from duels.games import load
>>> game = load("firewall-breach", strength=2)
>>> never_risk = {"bypass": 1.0}
>>> walk = Walk(game, 1, lambda states, seat: [never_risk] * len(states))
>>> len(walk.states), walk.values()[0]              # the responder's score
(10, 1.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from duels.core.game import AnyGame, Chance, Decide, Move, Over
from duels.measure.graph import DRAWN, LOST, PLAIN, POLICY, RESPONDER, WON, Graph
from duels.solve.solution import Progress, Unsolved

Ask = Callable[[Sequence[Any], int], Sequence[Mapping[Move, float]]]
LARGEST = 2_000_000  # positions; beyond that a walk in Python takes too long and too much memory


class TooLarge(Unsolved):
    """More positions than were allowed."""


class Walk:
    """All that the policy in one seat and any responder in the other can reach.

    With `answers` the other seat's mix is known too: then nobody has anything left to choose, and
    the value is that of the two against each other.
    """

    def __init__(
        self,
        game: AnyGame,
        seat: int,
        ask: Ask,
        answers: Ask | None = None,
        *,
        largest: int = LARGEST,
        steps: float = float("inf"),
        progress: Progress | None = None,
    ) -> None:
        self.game, self.seat, self.responder = game, seat, 1 - seat
        self._ask, self._answers = ask, answers
        self._largest, self._steps, self._progress = largest, steps, progress
        self.states: list[Any] = []
        self._seen: dict[Any, Any] = {}
        self.number: dict[Any, int] = {}
        self.moves: list[list[Move]] = []  # of the policy, beside their chances
        at_own, at_child = [0], [0]
        chance: list[float] = []
        child: list[int] = []
        chooser: list[int] = []
        self.graph = Graph(at_own, chance, at_child, child, chooser, True)
        self._end = self._number(game.start())
        self._walk()

    def _walk(self) -> None:
        done = 0
        while done < len(self.states):
            wave = self.states[done:]
            turns = [self.game.turn(state) for state in wave]
            mine = self._mixes(self._ask, wave, turns, self.seat)
            theirs = (
                self._mixes(self._answers, wave, turns, self.responder) if self._answers else {}
            )
            for place, (state, turn) in enumerate(zip(wave, turns, strict=True)):
                assert not isinstance(turn, Over)
                self._expand(state, turn, mine.get(place), theirs.get(place))
                if len(self.states) > self._largest or len(self.graph.child) > self._steps:
                    raise TooLarge(
                        f"more than {len(self.states) - 1:,} positions of {self.game.slug} can be "
                        "reached"
                    )
            done += len(wave)
            if len(self.states) > self._steps / 20:  # most positions lead to many
                raise TooLarge(f"{self.game.slug} is too large for this")
            if self._progress is not None:
                self._progress(done / len(self.states), f"{len(self.states):,} positions")

    def _mixes(
        self, ask: Ask, wave: list[Any], turns: list[Any], seat: int
    ) -> dict[int, Mapping[Move, float]]:
        places = [
            n for n, turn in enumerate(turns) if isinstance(turn, Decide) and seat in turn.options
        ]
        said = ask([wave[place] for place in places], seat) if places else []
        return dict(zip(places, said, strict=True))

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
            self._look(state, turn)
            own = [((), 1.0)]
            if mine is not None:
                own = [((move,), p) for move, p in mine.items()]
                who |= POLICY
            if self.responder in turn.options:
                answers = [(move,) for move in turn.options[self.responder]]
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

    def _look(self, state: Any, turn: Decide) -> None:
        """Two positions that look the same to who chooses would be hidden information."""
        for player in turn.options:
            seen = player, self.game.observe(state, player)
            if self._seen.setdefault(seen, state) != state:
                raise Unsolved(
                    f"{self.game.slug} has hidden information: a response to its states would know "
                    "more than a player does"
                )

    def _pair(self, mine: tuple[Move, ...], theirs: tuple[Move, ...]) -> tuple[Move, ...]:
        return (*mine, *theirs) if self.seat == 0 else (*theirs, *mine)

    def _number(self, state: Any) -> int:
        """A position's number, or how the game ended."""
        found = self.number.get(state)
        if found is None:
            turn = self.game.turn(state)
            if isinstance(turn, Over):
                winner = turn.winner
                found = DRAWN if winner is None else WON if winner == self.responder else LOST
            else:
                found = len(self.states)
                self.states.append(state)
            self.number[state] = found
        return found

    # Asking. Everything is computed when it is first asked for.

    def __len__(self) -> int:
        return len(self.states)

    def state(self, number: int) -> Any:
        return self.states[number]

    def answer(self, number: int) -> Move:
        """A best answer in a position where the responder chooses."""
        turn = self.game.turn(self.states[number])
        assert isinstance(turn, Decide)
        return turn.options[self.responder][self.answers[number]]

    def find(self, state: Any) -> int:
        """The number of a position, or -1 where the policy does not let the game come."""
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

    @cached_property
    def _settled(self) -> list[float]:
        value = [0.5] * len(self.states)
        PLAIN.settle(*self.graph[:4], *self._order, value)
        return value

    def values(self) -> list[float]:
        """What each position is worth to the responder, who plays the best answers."""
        if not self.states:
            return [(-1 - self._end) / 2]
        return self._settled

    @cached_property
    def answers(self) -> list[int]:
        """The number of a best answer in each position."""
        answer = [-1] * len(self.states)
        PLAIN.best(*self.graph[:4], *self._order, self.values(), answer)
        return answer

    def visits(self) -> list[float]:
        """How often a game against the best response comes to each position."""
        size = len(self.states)
        mass, visited = [1.0] + [0.0] * (size - 1), [0.0] * size
        PLAIN.visits(*self.graph[:4], *self._order, self.answers, mass, visited)
        return visited

    def regrets(self, optimal: list[float]) -> list[float]:
        """What the mix in each position gives away; `optimal` is their worth to the responder."""
        out = [0.0] * len(self.states)
        PLAIN.gains(*self.graph[:4], optimal, out)
        return out

    def mix(self, number: int) -> dict[Move, float]:
        own = self.graph.at_own
        return dict(
            zip(self.moves[number], self.graph.chance[own[number] : own[number + 1]], strict=True)
        )
