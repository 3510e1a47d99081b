"""Solution of Cipher Siege: values of a player's options, from an approximate equilibrium.

Hands are hidden, so only information states have values: the hand, both CIs, the sizes, the
discards, and the cards each side is known to hold because of swaps. Values are averages over the
hidden cards, given that both players follow the strategy; the true hands are not used. Values are
estimates with an error, and the exploitability of the strategy is known between two bounds.

`assess` looks a choice up in the stored table; `measured` adds play-outs of moves whose stored
value is rough or missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from duels.algorithms import tables
from duels.algorithms.estimate import Estimate, error_of, proportion_error
from duels.algorithms.solution import (
    Assessment,
    LearnedResponse,
    Progress,
    Solution,
    SolveArguments,
    Unsolved,
    Value,
)
from duels.core.errors import program
from duels.core.game import AnyGame, Move, Outcome, Over, Pick
from duels.core.match import Match
from duels.core.pieces import Cards, joined, replace_one, without
from duels.core.player import View
from duels.games.cipher_siege.belief import hand_odds
from duels.games.cipher_siege.encoding import CardEncoding
from duels.games.cipher_siege.infostate import (
    CHOSEN,
    InfoState,
    Memory,
    coarse_key,
    fine_key,
    in_turn_order,
    info_state,
)
from duels.games.cipher_siege.playouts import PlayOuts, SelfPlay
from duels.games.cipher_siege.rules import (
    CipherSiege,
    Seen,
    actions,
    attack_value,
    cards_of,
    refilled,
)
from duels.games.cipher_siege.strategy import (
    BEST,
    KIND,
    SCALE,
    SEPARATE,
    UNKNOWN,
    Stored,
    Strategy,
    bounds_of,
)
from duels.games.cipher_siege.value_network import find_value_network

PLAYOUTS = 4000  # the most play-outs that a stored value was computed from
# Errors of stored values besides that of the play-outs: of the first choice of a game, of fine keys
# and of coarse keys. Keys do not contain the whole history, and some values have few play-outs.
# Root mean squares in games of level medium, from `tools/solutions.py values`.
OPENING, FINE, COARSE = range(3)
ROUGH = (0.004, 0.07, 0.17)
GAMES = 1_000_000  # from which the first player's score was computed
# Play-outs of a move without a stored value: of candidates, and of other moves. One choice then
# takes a few tenths of a second.
CLOSELY, ROUGHLY = 1200, 80
CLOSE = 0.015  # a standard error below which no play-outs are needed
CANDIDATES = 5  # best moves, one after the other, that get the larger number of play-outs
CACHED = 4  # choices whose play-outs are cached


class StoredStrategy(NamedTuple):
    """A mixed strategy, and the values of the moves and of the choice where they are known."""

    mixed_strategy: Mapping[Move, float]
    wins: Mapping[Move, float] = {}
    value: float | None = None
    rough: bool = False  # the information state is not stored


class CipherSiegeSolution(Solution):
    """The solution of Cipher Siege from the table of a trained strategy."""

    game: CipherSiege
    approximate = sampled = True
    learns_responses = True

    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        if self.game.swap != "random":
            raise Unsolved(f"cipher-siege with swap=chosen is not solved: {CHOSEN}")
        table = tables.find_table(in_turn_order(self.game), KIND)
        if table is None:
            raise Unsolved(
                "there is no strategy for cipher-siege with these options "
                f"('{program()} {training_command(self.game)}' trains one)"
            )
        self.facts = table.facts
        self.own_bound, self.bound, self.at_most = bounds_of(table.facts)
        self.strategy = Strategy(table.payload)
        self._encoding = CardEncoding(self.game)
        self._wins = [
            [Estimate(v / SCALE, math.hypot(proportion_error(v / SCALE, PLAYOUTS), rough))
             for v in range(SCALE + 1)]
            for rough in ROUGH
        ]  # fmt: skip
        self.player = SelfPlay(self._encoding, self._policy)
        self._value_network = find_value_network(self.game)
        self._playouts: dict[Any, PlayOuts] = {}

    @classmethod
    def rebuild(cls, game: AnyGame, progress: Progress, given: SolveArguments) -> dict[str, Any]:
        from duels.games.cipher_siege.training.rebuild import rebuild

        assert isinstance(game, CipherSiege)
        return rebuild(game, progress, given.path, given.minutes, jobs=given.jobs or 1)

    def response_scores(self) -> tuple[float, float] | None:
        stored, separate = self.facts.get(BEST), self.facts.get(SEPARATE, (0.0, 0.0))
        if stored is None:
            return None
        lows = [float(low) for low, _ in stored]
        one, two = map(max, lows, separate)
        return (one, two) if self.game.first == 0 else (two, one)

    def learn_response(
        self, seat: int, seconds: float | None, progress: Progress | None = None
    ) -> LearnedResponse:
        from duels.games.cipher_siege.response import learn_response

        plies = self.facts["fine_plies"]
        return learn_response(self.game, self, self.strategy, plies, seat, seconds, progress)

    def start_value(self) -> Value:
        """The first player's expected score when the strategy plays itself."""
        first = float(self.facts["first player"])
        first = Estimate(first, proportion_error(first, GAMES))
        return first if self.game.first == 0 else 1 - first

    def decision_value(self, state: Any) -> Value:
        raise Unsolved("states of cipher-siege have no value, since hands are hidden")

    def value(self, state: Any) -> Value:
        turn = self.game.turn(state)
        return self.unit.end(turn) if isinstance(turn, Over) else self.decision_value(state)

    def estimate(self, state: Any, players: tuple[str, str]) -> float | None:
        return None if self._value_network is None else self._value_network(state, players)

    def value_at(self, match: Match, number: int | None = None) -> Value | None:
        """The value to the player who chooses next, from that player's view.

        Before a deal, a draw or an exchange it is the average over the cards that the player may
        get; unseen cards are equally likely.
        """
        state = match.state if number is None else match.state_before(number)
        if isinstance(self.game.turn(state), Over):
            return self.value(state)
        if state == self.game.start():
            return self.start_value()
        chooser = {"deal": self.game.first, "swap": 1 - state.mover}.get(state.phase, state.mover)
        view = match.view(chooser) if number is None else match.view_before(number, chooser)
        parts = [chance * self._worth(choice, chance) for chance, choice in self._choices(view)]
        return sum(parts) if chooser == 0 else 1 - sum(parts)

    def _worth(self, view: View, chance: float) -> Value:
        """A choice's value to its player, with play-outs in proportion to its probability."""
        assert view.player is not None
        stored = self._stored_strategy(view, view.player)
        wins = dict(stored.wins)
        for move, part in stored.mixed_strategy.items():
            if not close(wins.get(move)):
                count = CLOSELY if chance == 1 else math.ceil(chance * part * CLOSELY)
                wins[move] = self._playouts_of(view).measure(move, count)
        return average(stored.mixed_strategy, wins)

    def measured(self, view: View, played: Move | None = None) -> Assessment:
        """As `assess`, with play-outs of the moves whose stored value is rough or missing.

        Moves that the strategy plays, the move that was played, and the moves that seem best get
        many play-outs; other moves get a few if they have no stored value.
        """
        assert view.player is not None, "a spectator has no choice"
        stored = self._stored_strategy(view, view.player)
        wins = dict(stored.wins)
        for move in view.options:
            matters = move == played or move in stored.mixed_strategy
            if (matters and not close(wins.get(move))) or move not in wins:
                wins[move] = self._playouts_of(view).measure(move, CLOSELY if matters else ROUGHLY)
        for _ in range(CANDIDATES):
            best = max(wins, key=lambda move: wins[move])
            if close(wins[best]):
                break
            wins[best] = self._playouts_of(view).measure(best, CLOSELY)
        return self._assessment(
            view, stored._replace(wins=wins, value=average(stored.mixed_strategy, wins))
        )

    def _playouts_of(self, view: View) -> PlayOuts:
        """The play-outs of a choice, cached for repeated queries."""
        about = view.player, view.observation, view.history
        found = self._playouts.pop(about, None)
        if found is None:
            found = PlayOuts(self.player, view)
        self._playouts[about] = found
        if len(self._playouts) > CACHED:
            del self._playouts[next(iter(self._playouts))]
        return found

    def _choices(self, view: View) -> Iterator[tuple[float, View]]:
        """The views of a player's possible next choices, with their probabilities."""
        seen: Seen = view.observation
        own = view.player
        assert own is not None
        if seen.phase == "swap":
            given = view.history[-1]
            assert isinstance(given, Pick)
            for taken in seen.hand:
                hand = joined(without(seen.hand, (taken,)), cards_of(given.moves[0][1]))
                history = (*view.history, Outcome(str(taken), seen.mover))
                after = seen._replace(hand=hand, mover=own, phase="draw")
                for chance, choice in self._choices(
                    view._replace(observation=after, history=history)
                ):
                    yield chance / len(seen.hand), choice
            return
        draws = 1 if seen.phase == "draw" else 0
        sizes = seen.sizes
        if seen.phase == "deal":
            sizes = (self.game.hand, self.game.hand)
            draws = self.game.hand + 1 - len(seen.hand)
        unplaced, discard = self._unplaced(view, seen), seen.discard
        if seen.phase == "draw" and not seen.deck_size:  # the discards become the deck
            unplaced, discard = refilled((), discard, ())
            draws = min(1, len(unplaced))
        for drawn, chance in hand_odds(unplaced, draws).items():
            hand = joined(seen.hand, drawn)
            act = seen._replace(
                hand=hand, sizes=replace_one(sizes, own, len(hand)), discard=discard
            )
            may_swap = len(hand) <= self.game.limit and sizes[1 - own] > 0
            options = actions(hand, may_swap, own).options[own]
            yield chance, view._replace(observation=act._replace(phase="act"), options=options)

    def _unplaced(self, view: View, seen: Seen) -> Cards:
        """The unseen cards of a player: in the deck, or in the other hand and not known."""
        assert view.player is not None
        known = Memory(view.history, self.game.values).known[1 - view.player]
        placed = [*seen.hand, *seen.discard]
        return tuple(
            card
            for card in range(1, self.game.values + 1)
            for _ in range(self.game.copies - placed.count(card) - known[card - 1])
        )

    def assess(self, view: View) -> Assessment:
        assert view.player is not None, "a spectator has no choice"
        return self._assessment(view, self._stored_strategy(view, view.player))

    def dominated(self, view: View, choice: Assessment) -> frozenset[Move]:
        """The moves that pass by a win: other comparisons would need all hands of the opponent."""
        wins = {
            move
            for move in view.options
            if math.isinf(self.game.gain(view.observation, choice.player, move))
        }
        return frozenset(view.options).difference(wins) if wins else frozenset()

    def _assessment(self, view: View, stored: StoredStrategy) -> Assessment:
        assert view.player is not None
        worth: dict[Move, Value | None] = {move: stored.wins.get(move) for move in view.options}
        value: Value | None = stored.value
        if view.player == 1:
            worth = {move: None if wins is None else 1 - wins for move, wins in worth.items()}
            value = None if value is None else 1 - value
        return Assessment(view.player, value, worth, stored.mixed_strategy, stored.rough)

    def _stored_strategy(self, view: View, own: int) -> StoredStrategy:
        seen: Seen = view.observation
        other = 1 - own
        encoding = self._encoding
        hand = encoding.hand(encoding.code(seen.hand))
        if not hand.names:
            return StoredStrategy({"pass": 1.0})
        if hand.damage >= seen.ci[other]:
            return self._winning(view, seen.ci[other])
        info = info_state(encoding, view)
        stored, kind = self.stored(info)
        if stored is None:
            return StoredStrategy({hand.names[hand.best]: 1.0}, rough=True)
        total = sum(weight for _, weight in stored.weights)
        mixed_strategy = {hand.names[move]: weight / total for move, weight in stored.weights}
        worth = self._wins[kind if info.choices else OPENING]
        wins = {hand.names[m]: worth[v] for m, v in enumerate(stored.values) if v != UNKNOWN}
        value = average(mixed_strategy, wins) if set(mixed_strategy) <= set(wins) else None
        return StoredStrategy(mixed_strategy, wins, value)

    def _winning(self, view: View, target: int) -> StoredStrategy:
        """The strategy of a player who can win at once; values of other moves are not stored."""
        wins = {
            move: 1.0
            for move in view.options
            if move.startswith("attack") and sum(attack_value(cards_of(move))) >= target
        }
        return StoredStrategy({move: 1 / len(wins) for move in wins}, wins, 1.0)

    def stored(self, info: InfoState) -> tuple[Stored | None, int]:
        """The table's entry for an information state: that of the fine or else the coarse key."""
        stored = None
        if info.choices < self.facts["fine_plies"]:
            stored = self.strategy.lookup(fine_key(info, self._encoding))
        if stored is not None:
            return stored, FINE
        return self.strategy.lookup(coarse_key(info, self._encoding)), COARSE

    def _policy(self, info: InfoState) -> Sequence[tuple[int, float]]:
        """The strategy's choice at an information state where no move wins at once."""
        stored, _ = self.stored(info)
        return [(self._encoding.hand(info.hand).best, 1)] if stored is None else stored.weights


def close(wins: float | None) -> bool:
    return wins is not None and (error_of(wins) or 0.0) <= CLOSE


def average(mixed_strategy: Mapping[Move, float], wins: Mapping[Move, float]) -> float:
    """The value of a mixed strategy; an `Estimate` if those of its moves are estimates."""
    return sum(part * wins[move] for move, part in mixed_strategy.items())


def training_command(game: CipherSiege) -> str:
    """The command that trains a strategy for these options, without the name of the program.

    >>> training_command(CipherSiege(integrity=10, limit=4))
    'solve cipher-siege --set integrity=10 --set limit=4'
    """
    usual = tables.settings(CipherSiege())
    own = tables.settings(game).items()
    given = [f" --set {name}={text}" for name, text in own if text != usual[name]]
    return f"solve {game.slug}{''.join(given)}"
