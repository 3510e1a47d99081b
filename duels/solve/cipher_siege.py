"""Cipher Siege: what a player's options are worth, from a strategy close to an equilibrium.

Hands are hidden, so there are no values of states, only of what a player knows: the hand, both
CIs, the sizes, the discards, and the cards each side is known to hold because of swaps. Values are
averages over the hidden cards as near-equilibrium play deals them, never over the true hands. All
of it is approximate, and how far the strategy can be exploited is known from below at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from duels.core.game import AnyGame, Move, Outcome, Over, Pick
from duels.core.match import Match
from duels.core.pieces import Cards, both, joined, without
from duels.core.player import View
from duels.games.cipher_siege import CipherSiege, Seen, actions, attack_value
from duels.solve import tables
from duels.solve.siege.knowledge import (
    Counts,
    Memory,
    cards,
    hands,
    in_turn_order,
    moves_of,
    unseen_bucket,
)
from duels.solve.siege.strategy import KIND, SCALE, UNKNOWN, Strategy
from duels.solve.solution import Assessment, Progress, Solution, Unsolved, Value, score

# The fact of a table that says what a best responder gained, both seats together. Tables trained
# before it had this name carried a guess called "bound", which is not read.
EXPLOITABLE = "exploitable by at least"
# And the one that says what no player can gain: `tools/siege.py bounds`, both seats together.
CERTIFIED = "exploitable by at most"


class Advice(NamedTuple):
    """How to choose, and the chances to win of the moves and of the choice, where known."""

    mix: Mapping[Move, float]
    wins: Mapping[Move, float] = {}
    value: float | None = None
    rough: bool = False  # the strategy does not know the position


class CipherSiegeSolution(Solution):
    game: CipherSiege
    approximate = True
    missing = "the strategy seldom or never came to such a position and has no value for it"

    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        if self.game.swap != "random":
            raise Unsolved("cipher-siege with swap=chosen is not solved")
        table = tables.find_table(in_turn_order(self.game), KIND)
        if table is None:
            raise Unsolved(
                "there is no strategy for cipher-siege with these options "
                f"('{training_command(self.game)}' trains one)"
            )
        self.facts = table.facts
        measured = self.facts.get(EXPLOITABLE)
        self.bound = None if measured is None else float(measured)
        certified = self.facts.get(CERTIFIED)
        self.at_most = None if certified is None else float(certified)
        self._strategy = Strategy(table.payload)

    @classmethod
    def rebuild(
        cls, game: AnyGame, progress: Progress, path: str | None, minutes: float | None
    ) -> dict[str, Any]:
        from duels.solve.siege.rebuild import rebuild

        assert isinstance(game, CipherSiege)
        return rebuild(game, progress, path, minutes)

    def start_value(self) -> Value:
        """The first player's winning chances when the strategy plays itself."""
        first = float(self.facts["first player"])
        return first if self.game.first == 0 else 1 - first

    def known(self, state: Any) -> Value:
        raise Unsolved("what a hidden hand is worth depends on who looks at it")

    def value(self, state: Any) -> Value:
        turn = self.game.turn(state)
        return score(turn) if isinstance(turn, Over) else self.known(state)

    def value_at(self, match: Match, number: int | None = None) -> Value | None:
        """The value to whoever chooses next, from what that player sees; None: not known.

        Before a deal, a draw or an exchange it is the average over what that player may get, every
        card that the player cannot place being equally likely in the deck.
        """
        state = match.state if number is None else match.state_before(number)
        if isinstance(self.game.turn(state), Over):
            return self.value(state)
        if state == self.game.start():
            return self.start_value()
        chooser = {"deal": self.game.first, "swap": 1 - state.mover}.get(state.phase, state.mover)
        view = match.view(chooser) if number is None else match.view_before(number, chooser)
        total = 0.0
        for chance, choice in self._choices(view):
            value = self.assess(choice).value
            if value is None:
                return None
            total += chance * float(value)
        return total

    def _choices(self, view: View) -> Iterator[tuple[float, View]]:
        """The choices a player may come to next, as that player sees them, with their chances."""
        seen: Seen = view.observation
        own = view.player
        assert own is not None
        if seen.phase == "swap":
            given = view.history[-1]
            assert isinstance(given, Pick)
            for taken in seen.hand:
                hand = joined(without(seen.hand, (taken,)), cards(given.moves[0][1]))
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
        if seen.phase == "draw" and not seen.deck_size:  # the discards are the deck from now on
            unplaced, discard = discard, ()
            draws = min(1, len(unplaced))
        for drawn, chance in hands(unplaced, draws).items():
            hand = joined(seen.hand, drawn)
            act = seen._replace(hand=hand, sizes=both(sizes, own, len(hand)), discard=discard)
            may_swap = len(hand) <= self.game.limit and sizes[1 - own] > 0
            options = actions(hand, may_swap, own).options[own]
            yield chance, view._replace(observation=act._replace(phase="act"), options=options)

    def _unplaced(self, view: View, seen: Seen) -> Cards:
        """The cards that a player cannot place: in the deck, or in the other hand and not known."""
        assert view.player is not None
        known = Memory(view.history, view.player, self.game.values).known[1 - view.player]
        placed = [*seen.hand, *seen.discard]
        return tuple(
            card
            for card in range(1, self.game.values + 1)
            for _ in range(self.game.copies - placed.count(card) - known[card - 1])
        )

    def assess(self, view: View) -> Assessment:
        assert view.player is not None, "a spectator has no choice"
        advice = self._advice(view, view.player)
        worth: dict[Move, Value | None] = {move: advice.wins.get(move) for move in view.options}
        value: Value | None = advice.value
        if view.player == 1:
            worth = {move: None if wins is None else 1 - wins for move, wins in worth.items()}
            value = None if value is None else 1 - value
        return Assessment(view.player, value, worth, advice.mix, advice.rough)

    def _advice(self, view: View, own: int) -> Advice:
        seen: Seen = view.observation
        other = 1 - own
        hand = self._counts(seen.hand)
        names, best, damage = moves_of(hand, "swap" in {m.split()[0] for m in view.options})
        if not names:
            return Advice({"pass": 1.0})
        if damage >= seen.ci[other]:
            return self._winning(view, seen.ci[other])
        memory = Memory(view.history, own, self.game.values)
        key = self._key(
            hand, seen.ci[own], seen.ci[other], seen.sizes[other], self._counts(seen.discard),
            memory.known[other], memory.known[own], memory.choices,
        )  # fmt: skip
        stored = self._strategy.lookup(key)
        if stored is None:
            return Advice({names[best]: 1.0}, rough=True)
        total = sum(weight for _, weight in stored.mix)
        mix = {names[move]: weight / total for move, weight in stored.mix}
        wins = {names[m]: v / SCALE for m, v in enumerate(stored.values) if v != UNKNOWN}
        if not set(mix) <= set(wins):
            return Advice(mix, wins)
        return Advice(mix, wins, sum(part * wins[move] for move, part in mix.items()))

    def _winning(self, view: View, target: int) -> Advice:
        """Somebody who can win at once does; how bad anything else would be is not measured."""
        wins = {
            move: 1.0
            for move in view.options
            if move.startswith("attack") and sum(attack_value(cards(move))) >= target
        }
        return Advice({move: 1 / len(wins) for move in wins}, wins, 1.0)

    def _counts(self, held: Sequence[int]) -> tuple[int, ...]:
        return tuple(held.count(value) for value in range(1, self.game.values + 1))

    def _code(self, counts: Counts) -> int:
        code = 0
        for count in reversed(counts):
            code = code * (self.game.copies + 1) + count
        return code

    def _key(
        self, hand: Counts, own_ci: int, other_ci: int, other_size: int, discards: Counts,
        known_other: Counts, known_own: Counts, choices: int,
    ) -> int:  # fmt: skip
        """The key the training kernel gives this information state."""
        codes: int = (self.game.copies + 1) ** self.game.values
        if choices < self.facts["fine_plies"]:
            key, tag = self._code(discards) * codes + self._code(known_own), 2 + (choices & 1)
        else:
            seen = tuple(a + b for a, b in zip(hand, discards, strict=True))
            key = unseen_bucket(seen, self.game.copies)
            even = self.game.integrity[0] == self.game.integrity[1]
            tag = 1 if even else 4 + (choices & 1)
        key = (key * codes + self._code(known_other)) * codes + self._code(hand)
        cap = max(self.game.integrity) + 1
        return (((key * cap + own_ci) * cap + other_ci) * 8 + other_size) * 6 + tag


def training_command(game: CipherSiege) -> str:
    """What to type for a strategy of these options.

    >>> training_command(CipherSiege(integrity=10, limit=4))
    'duels solve cipher-siege --set integrity=10 --set limit=4'
    """
    usual = tables.settings(CipherSiege())
    own = tables.settings(game).items()
    given = [f" --set {name}={text}" for name, text in own if text != usual[name]]
    return f"duels solve {game.slug}{''.join(given)}"
