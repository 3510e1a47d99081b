"""The information states of any game, as two trees in flat arrays (the sequence form).

A player's information state is the list of events as that player has seen them (`Game.redact`), so
it contains all that the player saw and did (perfect recall). A sequence is an information state
with one of its moves; sequence 0 is the empty one. Chance, hidden information and simultaneous
choices are summarised by the probability and the payoff of the ends of the game for each pair of
sequences: the expected payoff of two strategies is a sum over `pairs`.

Histories are followed event by event. Those in which the state and both players' information are
the same are followed together.

>>> from duels.games import load
>>> tree = InfostateTree(load("digit-duel", hidden=True, digits=2, life=2))
>>> [(player.states, player.sequences) for player in tree.players], len(tree.pairs)
([(5, 7), (5, 7)], 4)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from math import exp
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.solution import Progress, Unsolved
from duels.algorithms.tree_size import clearly_larger
from duels.core.game import AnyGame, Chance, Decide, Event, History, Move, Outcome, Over, Pick
from duels.core.match import TURN_LIMIT
from duels.core.payoffs import payoffs
from duels.core.player import View

MOST_STATES = 300_000  # information states of both players
MOST_HISTORIES = 3_000_000  # a minute or two in Python
ENDING = 0.05  # how likely a playout is to end the game, against going on
TILTS = (0.7, 0.2, 0.0)  # per event that can follow: the first suits trees that double with each
BOTH = -1  # the players together, as a viewer
MANY = 50  # events that can follow; more count as so many
STEP = 20_000  # histories between two calls of `progress`

Behaviour = Callable[[View], Mapping[Move, float]]  # a policy: the probability of each move


class TooManyStates(Unsolved):
    """The tree of a game exceeds its budget."""


class PlayerTree:
    """The information states of one player, parents before children.

    State i has the sequences `begin[i]` to `begin[i + 1]`, one for each of its options, and follows
    the sequence `parent[i]`.
    """

    def __init__(self) -> None:
        self.begin = [1]
        self.parent: list[int] = []
        self.options: list[tuple[Move, ...]] = []
        # Nodes of the tree of what the player may have seen; 0 is the start.
        self._after: dict[tuple[int, Event], int] = {}
        self._sequence = [0]  # of each node: the last sequence of the player
        self._state: dict[int, int] = {}  # the information state of a node where the player chooses
        self.decisions = [0]  # of each node: choices so far, a simultaneous pair counting once

    @property
    def states(self) -> int:
        return len(self.parent)

    @property
    def sequences(self) -> int:
        return self.begin[-1]

    def sequence(self, node: int) -> int:
        """The last sequence of the player at a node."""
        return self._sequence[node]

    def state(self, node: int, options: tuple[Move, ...], game: AnyGame) -> int:
        """The information state of a node in which the player chooses."""
        found = self._state.get(node)
        if found is None:
            found = self._state[node] = len(self.parent)
            self.parent.append(self._sequence[node])
            self.options.append(options)
            self.begin.append(self.begin[-1] + len(options))
        elif self.options[found] != options:
            raise Unsolved(f"in {game.slug} players do not always know their own options")
        return found

    def follow(self, node: int, seen: Event, sequence: int | None, game: AnyGame) -> int:
        """The node after an event as the player sees it; `sequence` if the player has moved."""
        sequence = self._sequence[node] if sequence is None else sequence
        found = self._after.get((node, seen))
        if found is None:
            found = self._after[node, seen] = len(self._sequence)
            self._sequence.append(sequence)
            self.decisions.append(self.decisions[node] + isinstance(seen, Pick))
        elif self._sequence[found] != sequence:
            raise Unsolved(f"in {game.slug} players are not always shown their own moves")
        return found

    def find(self, history: Iterable[Event]) -> int | None:
        """The information state after a history, as the player saw it; None if there is none."""
        node: int | None = 0
        for event in history:
            node = self._after.get((node or 0, event))
            if node is None:
                return None
        return self._state.get(node or 0)

    def histories(self) -> list[History]:
        """What the player has seen in each information state."""
        before: dict[int, tuple[int, Event]] = {
            node: (earlier, event) for (earlier, event), node in self._after.items()
        }
        found: list[History] = []
        for node in self._state:
            events: list[Event] = []
            while node:
                node, event = before[node]
                events.append(event)
            found.append(tuple(events[::-1]))
        return found

    def uniform(self) -> list[float]:
        """The uniform strategy: the probability of each move, by sequence."""
        found = [1.0]
        for options in self.options:
            found += [1 / len(options)] * len(options)
        return found


class SequencePair(NamedTuple):
    """The ends of the game that two sequences lead to."""

    mass: float  # their probability by chance
    payoff: float  # Player 1's payoff, times that


class InfostateTree:
    """The information states of both players, and the pairs of sequences that end the game.

    A game that reaches the turn limit is a draw, as in a match. `Unsolved` is raised beyond the
    budget: `most` information states, `histories`, or `seconds`.
    """

    def __init__(
        self,
        game: AnyGame,
        progress: Progress | None = None,
        *,
        turn_limit: int = TURN_LIMIT,
        most: int = MOST_STATES,
        histories: int = MOST_HISTORIES,
        seconds: float | None = None,
    ) -> None:
        self.game, self.turn_limit = game, turn_limit
        self.players = (PlayerTree(), PlayerTree())
        self.pairs: dict[tuple[int, int], SequencePair] = {}
        self.histories = 1
        self._most, self._most_histories = most, histories
        self._end = None if seconds is None else time.monotonic() + seconds
        self._observed: tuple[dict[int, Any], dict[int, Any]] = ({}, {})
        self._refuse_large()
        self._build(progress)

    def _too_many(self) -> TooManyStates:
        return TooManyStates(
            f"{self.game.slug} has more than {self._most:,} information states with these options"
        )

    def _refuse_large(self) -> None:
        """Raise at once if a game is far larger than the budget."""
        if clearly_more(self.game, (0, 1), self._most, self.turn_limit):
            raise self._too_many()
        if clearly_more(self.game, (None,), self._most_histories, self.turn_limit):
            raise self._too_long()

    def _too_long(self) -> TooManyStates:
        return TooManyStates(
            f"{self.game.slug} has more than {self._most_histories:,} histories with these options"
        )

    def _build(self, progress: Progress | None) -> None:
        game, (one, two) = self.game, self.players
        mass: dict[tuple[int, int], float] = {}
        paid: dict[tuple[int, int], float] = {}
        told = 0
        # The histories with as many events, by state and both players' nodes, with their chance.
        layer: dict[tuple[Any, int, int], float] = {(game.start(), 0, 0): 1.0}
        while layer:
            after: dict[tuple[Any, int, int], float] = {}
            for (state, node_one, node_two), chance in layer.items():
                turn = game.turn(state)
                limited = isinstance(turn, Decide) and one.decisions[node_one] >= self.turn_limit
                if limited or isinstance(turn, Over):
                    ends = one.sequence(node_one), two.sequence(node_two)
                    value = payoffs(turn)[0] if isinstance(turn, Over) else 0.0
                    mass[ends] = mass.get(ends, 0.0) + chance
                    paid[ends] = paid.get(ends, 0.0) + chance * value
                    continue
                assert not isinstance(turn, Over)
                numbered: list[dict[Move, int]] = [{}, {}]
                if isinstance(turn, Decide):
                    for player, options in turn.options.items():
                        tree = self.players[player]
                        node = node_two if player else node_one
                        number = tree.state(node, options, game)
                        if number not in self._observed[player]:
                            self._observed[player][number] = game.observe(state, player)
                        begin = tree.begin[number]
                        numbered[player] = {move: begin + at for at, move in enumerate(options)}
                for event, odd in events_of(turn):
                    sequences: list[int | None] = [None, None]
                    if isinstance(event, Pick):
                        for player, move in event.moves:
                            sequences[player] = numbered[player][move]
                    key = (
                        game.play(state, *picks_of(event)),
                        one.follow(node_one, game.redact(state, event, 0), sequences[0], game),
                        two.follow(node_two, game.redact(state, event, 1), sequences[1], game),
                    )
                    after[key] = after.get(key, 0.0) + chance * odd
                if one.states + two.states > self._most:
                    raise self._too_many()
                if self.histories + len(after) > self._most_histories:
                    raise self._too_long()
                if self._end is not None and time.monotonic() > self._end:
                    raise TooManyStates(
                        f"{game.slug} has more than {one.states + two.states:,} information "
                        "states, too many to list in the time given"
                    )
            self.histories += len(after)
            layer = after
            if progress is not None and self.histories - told >= STEP:
                told = self.histories
                states = one.states + two.states
                progress(states / (states + self._most), f"{states:,} information states found")
        self.pairs = {ends: SequencePair(mass[ends], paid[ends]) for ends in mass}

    # Policies and views

    def find(self, view: View) -> int | None:
        """The information state of a view; None if it is not in the tree."""
        assert view.player is not None, "a spectator has no information state"
        return self.players[view.player].find(view.history)

    def views(self, player: int) -> list[View]:
        """The view that a player has in each information state."""
        tree = self.players[player]
        return [
            View(self.game, player, self._observed[player][state], history, tree.options[state])
            for state, history in enumerate(tree.histories())
        ]

    def behaviour(self, player: int, policy: Behaviour) -> list[float]:
        """The probabilities of a policy's moves, by sequence; entry 0 is 1."""
        found = [1.0]
        for view in self.views(player):
            strategy = policy(view)
            found += [float(strategy.get(move, 0.0)) for move in view.options]
        return found


def clearly_more(
    game: AnyGame, viewers: tuple[int | None, ...], most: int, turn_limit: int = TURN_LIMIT
) -> bool:
    """Whether playouts show that the viewers have more than `most` information states together.

    With the viewer None, whether there are more histories; with `BOTH`, more histories that look
    different to one of the players.
    """
    randomness = Random("how large the tree is")
    for tilt in TILTS:

        def size(enough: int, tilt: float = tilt) -> float:
            return sum(_playout(game, turn_limit, randomness, v, enough, tilt) for v in viewers)

        if clearly_larger(size, most):
            return True
    return False


def _playout(
    game: AnyGame, turn_limit: int, randomness: Random, viewer: int | None, enough: int,
    tilt: float,
) -> float:  # fmt: skip
    """An estimate by a random playout of a player's information states, or of histories.

    A branch is what the viewer sees of an event, and an event with that look is drawn. The mean
    is the number of information states if every draw can go on in all the ways that the others
    can, and less if not. How likely an event is to be drawn changes no mean, and playouts show
    most where they are long: events that end the game are seldom drawn, and with a tilt,
    events are drawn more often the more can follow.
    """
    state, decisions, width, size = game.start(), 0, 1.0, 0.0
    turn = game.turn(state)
    while size < enough and not isinstance(turn, Over):
        if isinstance(turn, Decide) and decisions >= turn_limit:
            break
        decisions += isinstance(turn, Decide)
        if viewer in (0, 1) and isinstance(turn, Decide) and viewer in turn.options:
            size += width
        branches: dict[Any, list[tuple[float, Any, Any]]] = {}
        for number, (event, _) in enumerate(events_of(turn)):
            after = game.play(state, *picks_of(event))
            then = game.turn(after)
            look: Any = number
            if viewer is not None:
                seers = (0, 1) if viewer == BOTH else (viewer,)
                look = tuple(game.redact(state, event, player) for player in seers)
            weight = ENDING if isinstance(then, Over) else exp(tilt * min(MANY, _width(then)))
            branches.setdefault(look, []).append((weight, after, then))
        if viewer not in (0, 1):
            size += width * len(branches)
        weights = [sum(weight for weight, _, _ in branch) for branch in branches.values()]
        ((drawn, branch),) = randomness.choices(
            list(zip(weights, branches.values(), strict=True)), weights
        )
        width *= sum(weights) / drawn
        ((_, state, turn),) = randomness.choices(branch, [weight for weight, _, _ in branch])
    return min(size, enough)


def _width(turn: Decide | Chance) -> int:
    """The number of moves or outcomes of a turn."""
    return len(turn.odds) if isinstance(turn, Chance) else sum(map(len, turn.options.values()))


def picks_of(event: Event) -> tuple[Move, ...]:
    """The arguments of `Game.play` for an event."""
    if isinstance(event, Outcome):
        return (event.outcome,)
    return tuple(move for _, move in event.moves)


def events_of(turn: Decide | Chance) -> Iterable[tuple[Event, float]]:
    """All events that can happen, with the probability of a chance outcome; of a move it is 1."""
    if isinstance(turn, Chance):
        return [(Outcome(outcome, turn.by), float(odd)) for outcome, odd in turn.odds.items()]
    columns = [[(player, move) for move in turn.options[player]] for player in sorted(turn.options)]
    return [(Pick(moves), 1.0) for moves in product(*columns)]


def random_event(turn: Decide | Chance, randomness: Random) -> Event:
    """One of the events that can happen, each with the same probability."""
    if isinstance(turn, Chance):
        return Outcome(randomness.choice([*turn.odds]), turn.by)
    return Pick(tuple(
        (player, randomness.choice(turn.options[player])) for player in sorted(turn.options)
    ))  # fmt: skip
