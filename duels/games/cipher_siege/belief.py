"""Belief about the opponent's hand in Cipher Siege: the exact posterior given a player's view.

Both cards of a swap are known to both players, so only the deal and the draws are private. The
opponent is assumed to follow the strategy, except for random moves with probability `MISTAKE`, so
that no history is impossible. (`duels.algorithms.belief` samples histories of any game and assumes
nothing about the opponent's strategy; values of moves need the exact odds.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement
from math import comb, prod

from duels.core.game import Outcome, Pick
from duels.core.pieces import Cards
from duels.core.player import View
from duels.games.cipher_siege.encoding import CardEncoding
from duels.games.cipher_siege.infostate import InfoState
from duels.games.cipher_siege.rules import SWAP, CipherSiege, Seen, after_move, cards_of

# The strategy as a function: returns moves, by their index among those of the hand, with weights.
Policy = Callable[[InfoState], Sequence[tuple[int, float]]]
MISTAKE = 0.01  # probability of a random move


def hand_odds(deck: Cards, size: int) -> dict[Cards, float]:
    """Every hand of a size, with the probability that it is dealt.

    >>> hand_odds((1, 1, 2), 2)
    {(1, 1): 0.3333333333333333, (1, 2): 0.6666666666666666}
    """
    values = sorted(set(deck))
    found = {}
    for hand in combinations_with_replacement(values, size):
        ways = prod(comb(deck.count(value), hand.count(value)) for value in values)
        if ways:
            found[hand] = ways / comb(len(deck), size)
    return found


class Belief:
    """The probability of each hand of the opponent at a choice, and the information state there."""

    def __init__(self, encoding: CardEncoding, policy: Policy, view: View) -> None:
        game, seen = view.game, view.observation
        assert isinstance(game, CipherSiege)
        assert isinstance(seen, Seen)
        assert view.player is not None
        self._encoding, self._policy, self._own = encoding, policy, view.player
        self.odds: dict[int, float] = {}
        self._hand = self._discards = self.choices = 0
        self._ci = list(game.integrity)
        self._known = [0, 0]
        self._mover = game.first
        if any(isinstance(event, Pick) for event in view.history):
            self._follow(view, game)
        else:
            self._dealt(encoding.code(seen.hand), seen.sizes[1 - self._own])
        if drawn := encoding.code(seen.hand) - self._hand:  # the history may lack the last draw
            self._draw(drawn)
        other = 1 - self._own
        self.info_state = InfoState(
            self._hand, seen.sizes[other], self._discards, seen.ci[self._own], seen.ci[other],
            self._known[other], self._known[self._own], self.choices,
        )  # fmt: skip

    def _dealt(self, hand: int, size: int) -> None:
        """Set the odds of every hand that the opponent may have been dealt."""
        self._hand = hand
        left = self._encoding.cards(self._encoding.pack - hand)
        self.odds = {self._encoding.code(held): odd for held, odd in hand_odds(left, size).items()}

    def _follow(self, view: View, game: CipherSiege) -> None:
        deal = view.history[: 2 * game.hand]
        mine = deal[self._own != game.first :: 2]  # cards are dealt in turns
        dealt = [int(event.outcome) for event in mine if isinstance(event, Outcome)]
        self._dealt(self._encoding.code(dealt), game.hand)
        given = 0
        for event in view.history[2 * game.hand :]:
            if isinstance(event, Pick):
                ((_, move),) = event.moves
                self._choose(move)
                given = self._encoding.code(cards_of(move)) if move.startswith("swap") else 0
                self._mover = self._mover if given else 1 - self._mover
            elif isinstance(event, Outcome) and given:
                self._exchange(given, self._encoding.code((int(event.outcome),)))
                self._mover, given = 1 - self._mover, 0
            elif isinstance(event, Outcome):
                own = self._mover == self._own
                self._draw(self._encoding.code((int(event.outcome),)) if own else None)

    def deck(self, other: int) -> int:
        """The cards left to draw if the opponent has this hand."""
        return self._encoding.pack - self._hand - other - self._discards

    def _draw(self, card: int | None) -> None:
        """Update for a draw of the mover: of the given card, or None for an unseen one."""
        encoding = self._encoding
        if all(self.deck(other) == 0 for other in self.odds):
            self._discards = 0  # they become the deck
        after: dict[int, float] = {}
        for other, odd in self.odds.items():
            left = encoding.counts(self.deck(other))
            size = sum(left)
            for count, place in zip(left, encoding.radix, strict=True):
                if count and card in (None, place):
                    held = other + place if card is None else other
                    after[held] = after.get(held, 0.0) + odd * count / size
        self._hand += card or 0
        self._set(after)

    def _choose(self, move: str) -> None:
        """Update for a choice; a move of the opponent is evidence about its hand."""
        if self._mover != self._own:
            self._set({held: odd * self._chance(held, move) for held, odd in self.odds.items()})
        self.choices += 1
        if move == "pass":
            return
        encoding, mover = self._encoding, self._mover
        kind, played, worth = encoding.row(move)
        if kind == SWAP:
            return
        self._discards += played
        self._known[mover] = encoding.without(self._known[mover], played)
        cap = encoding.integrity[(self.choices - 1) & 1]
        self._ci[mover], self._ci[1 - mover] = after_move(
            kind, worth, self._ci[mover], self._ci[1 - mover], cap
        )
        if mover == self._own:
            self._hand -= played
        else:
            self._set({held - played: odd for held, odd in self.odds.items()})

    def _chance(self, held: int, move: str) -> float:
        """The probability that the opponent chooses a move with a hand."""
        own, other = self._own, 1 - self._own
        if move == "pass":
            return 1.0
        hand, size = self._encoding.hand(held), len(self._encoding.cards(self._hand))
        count = len(hand.rows) if size else hand.plain
        place = hand.places.get(move)
        if place is None or place >= count:
            return 0.0
        mistake = MISTAKE / count
        if hand.damage >= self._ci[own]:  # it would have won
            return mistake
        info = InfoState(
            held, size, self._discards, self._ci[other], self._ci[own],
            self._known[own], self._known[other], self.choices,
        )  # fmt: skip
        weights = self._policy(info)
        played = sum(weight for at, weight in weights if at == place)
        return mistake + (1 - MISTAKE) * played / sum(weight for _, weight in weights)

    def _exchange(self, given: int, taken: int) -> None:
        """Update for a swap: the mover gives a card and takes a random one; both are public."""
        encoding, mover, other = self._encoding, self._mover, 1 - self._mover
        known = self._known
        known[mover] = encoding.without(known[mover], given) + taken
        known[other] = encoding.without(known[other], taken) + given
        if mover == self._own:
            value = encoding.radix.index(taken)
            self._hand += taken - given
            self._set(
                {
                    held - taken + given: odd
                    * encoding.counts(held)[value]
                    / len(encoding.cards(held))
                    for held, odd in self.odds.items()
                }
            )
        else:
            self._hand += given - taken
            self._set({held - given + taken: odd for held, odd in self.odds.items()})

    def _set(self, weights: dict[int, float]) -> None:
        total = sum(weights.values())
        self.odds = {held: weight / total for held, weight in weights.items() if weight > 0.0}
