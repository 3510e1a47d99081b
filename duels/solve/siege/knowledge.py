"""What a player of Cipher Siege knows, on a bare Python: what reading and training agree on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import comb, prod

from duels.core.game import Event, Move, Outcome, Pick
from duels.core.pieces import Cards
from duels.games.cipher_siege import CipherSiege, attack_value

# Why swap=chosen is not solved.
CHOSEN = "the card taken is then a choice of the opponent, which the training does not have"
Counts = Sequence[int]  # how many cards of each value
# The five steps of `unseen_bucket`, set by hand around the middle value and not fitted. Between
# players of level medium 8, 8, 32, 17 and 36 % of the choices after the sixth turn fall into them.
# They are part of every stored key: other edges need another training.
EDGES = (-0.35, -0.12, 0.12, 0.35)


def in_turn_order(game: CipherSiege) -> CipherSiege:
    """The same rules with Player 1 to begin: a strategy knows only who moves first and second.

    >>> in_turn_order(CipherSiege(integrity="7/6", first=1)).settings()["integrity"]
    '6/7'
    """
    if game.first == 0:
        return game
    swapped = "/".join(map(str, reversed(game.integrity)))
    return CipherSiege(**{**game.settings(), "first": "1", "integrity": swapped})


class Memory:
    """What both players know of each other's hands because of swaps, and how many choices passed.

    A card given in a swap is known to be there until it is played or taken back.
    """

    def __init__(self, history: Sequence[Event], player: int, values: int) -> None:
        self.known: tuple[list[int], list[int]] = ([0] * values, [0] * values)
        self.choices = 0
        giver, given = -1, 0
        for event in history:
            if isinstance(event, Pick):
                ((mover, move),) = event.moves
                self.choices += 1
                if move.startswith("swap"):
                    giver, given = mover, cards(move)[0]
                else:
                    giver = -1
                    self._forget(mover, cards(move))
            elif isinstance(event, Outcome) and giver >= 0:
                taken = int(event.outcome)
                self._forget(giver, (given,))
                self._forget(1 - giver, (taken,))
                self.known[1 - giver][given - 1] += 1
                self.known[giver][taken - 1] += 1
                giver = -1

    def _forget(self, player: int, gone: Sequence[int]) -> None:
        for card in gone:
            if self.known[player][card - 1]:
                self.known[player][card - 1] -= 1


def unseen_bucket(counts: tuple[int, ...], copies: int) -> int:
    """Rough summary of the cards a player cannot see: is their mean low, usual or high?"""
    unseen = [copies - count for count in counts]
    total = sum(unseen)
    if total == 0:
        return 0
    mean = sum((v + 1) * u for v, u in enumerate(unseen)) / total
    middle = (len(counts) + 1) / 2
    return 1 + sum(mean > middle + edge for edge in EDGES)


def hands(deck: Cards, size: int) -> dict[Cards, float]:
    """Every hand of a size and its chance to be dealt.

    >>> hands((1, 1, 2), 2)
    {(1, 1): 0.3333333333333333, (1, 2): 0.6666666666666666}
    """
    values = sorted(set(deck))
    found = {}
    for hand in combinations_with_replacement(values, size):
        ways = prod(comb(deck.count(value), hand.count(value)) for value in values)
        if ways:
            found[hand] = ways / comb(len(deck), size)
    return found


def cards(move: Move) -> tuple[int, ...]:
    return tuple(int(word) for word in move.split()[1:])


@lru_cache(maxsize=4096)
def moves_of(counts: tuple[int, ...], may_swap: bool) -> tuple[tuple[Move, ...], int, int]:
    """The moves of a hand in the strategy's order, the place of the largest attack, its damage."""
    names: list[Move] = []
    best = top = 0
    for picks in product(*(range(count + 1) for count in counts)):
        played = [value + 1 for value, number in enumerate(picks) for _ in range(number)]
        if played:
            damage = sum(attack_value(tuple(played)))
            if damage > top:
                best, top = len(names), damage
            names.append("attack " + " ".join(map(str, played)))
    held = [value + 1 for value, count in enumerate(counts) if count]
    names += [f"defend {card}" for card in held]
    names += [f"swap {card}" for card in held] if may_swap else []
    return tuple(names), best, top
