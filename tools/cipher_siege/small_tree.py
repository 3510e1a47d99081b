"""The whole game tree of a small variant, with perfect-recall information sets.

The rules are implemented a second time here, on plain tuples, so that this also checks the compiled
code. A game that reaches `cap` turns is a draw, as in the compiled code it is compared with.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from duels.algorithms.compiled import Array, np
from duels.games.cipher_siege.rules import ATTACK, DEFEND, SWAP, CipherSiege, attack_value

Cards = tuple[int, ...]
Move = tuple[int, Cards]


class Tree(NamedTuple):
    """Nodes, depth first; node i has the children `child[first[i] : first[i] + width[i]]`."""

    level: Array  # grows along every path, equal within an information set
    player: Array  # 0, 1, -1 chance, -2 end
    info: Array  # information set of a decision node
    first: Array
    width: Array
    child: Array
    chance: Array  # probability of each child of a chance node, aligned with child
    payoff: Array  # first player's score at the end
    offset: Array  # of each information set into strategy vectors (one longer than their number)
    order: Array  # nodes by level, deepest first


def minus(cards: Cards, gone: Cards) -> Cards:
    """A sorted multiset without some of its cards; cards not there are ignored."""
    rest = Counter(cards) - Counter(gone)
    return tuple(sorted(rest.elements()))


def plus(cards: Cards, *more: int) -> Cards:
    return tuple(sorted((*cards, *more)))


def pair(me: int, mine: Any, yours: Any) -> Any:
    """A pair in the order of the seats."""
    return (mine, yours) if me == 0 else (yours, mine)


def legal_moves(hand: Cards, opposing: int, limit: int) -> list[Move]:
    """Every move of the rules, in no particular order."""
    subsets = {c for n in range(1, len(hand) + 1) for c in combinations(hand, n)}
    moves: list[Move] = [(ATTACK, c) for c in sorted(subsets)]
    moves += [(DEFEND, (c,)) for c in sorted(set(hand))]
    if opposing and len(hand) <= limit:
        moves += [(SWAP, (c,)) for c in sorted(set(hand))]
    return moves


class Place(NamedTuple):
    """A position; known[p] is what p is sure the other holds, seen[p] all that p observed."""

    ply: int
    deck: Cards
    disc: Cards
    hands: tuple[Cards, Cards]
    ci: tuple[int, int]
    known: tuple[Cards, Cards]
    seen: tuple[Any, Any]


class Builder:
    """Builds the tree; information sets are identified by all that their player has observed."""

    def __init__(self, game: CipherSiege, cap: int) -> None:
        self.game, self.cap = game, cap
        self.level: list[int] = []
        self.player: list[int] = []
        self.info: list[int] = []
        self.children: list[list[int]] = []
        self.odds: list[list[float]] = []
        self.payoff: list[float] = []
        self.sets: dict[tuple[Any, ...], int] = {}
        self.moves: list[list[Move]] = []
        self.features: list[tuple[Any, ...]] = []

    def node(self, level: int, player: int, payoff: float = 0.0, info: int = -1) -> int:
        """Add a node."""
        self.level.append(level)
        self.player.append(player)
        self.payoff.append(payoff)
        self.info.append(info)
        self.children.append([])
        self.odds.append([])
        return len(self.level) - 1

    def link(self, parent: int, child: int, p: float = 1.0) -> None:
        """Add a child to a node."""
        self.children[parent].append(child)
        self.odds[parent].append(p)

    def root(self) -> int:
        """Add the root: all deals."""
        game = self.game
        pack = tuple(v for v in range(1, game.values + 1) for _ in range(game.copies))
        top = self.node(0, -1)
        total = comb(len(pack), game.hand) * comb(len(pack) - game.hand, game.hand)
        for one, ways in Counter(combinations(pack, game.hand)).items():
            rest = minus(pack, one)
            for two, more in Counter(combinations(rest, game.hand)).items():
                deck = minus(rest, two)
                place = Place(0, deck, (), (one, two), game.integrity, ((), ()), ((one,), (two,)))
                self.link(top, self.turn(place), ways * more / total)
        return top

    def turn(self, place: Place) -> int:
        """Add the draw at the start of a turn."""
        if place.ply >= self.cap:
            return self.node(3 * place.ply + 1, -2, 0.5)
        me = place.ply % 2
        if not place.deck:
            place = place._replace(deck=place.disc, disc=())
        if not place.deck:
            return self.act(place)
        here = self.node(3 * place.ply + 1, -1)
        for card, n in sorted(Counter(place.deck).items()):
            drawn = place._replace(
                deck=minus(place.deck, (card,)),
                hands=pair(me, plus(place.hands[me], card), place.hands[1 - me]),
                seen=pair(me, (*place.seen[me], ("draw", card)), place.seen[1 - me]),
            )
            self.link(here, self.act(drawn), n / len(place.deck))
        return here

    def act(self, place: Place) -> int:
        """Add the decision node of a turn."""
        me, you = place.ply % 2, 1 - place.ply % 2
        hand = place.hands[me]
        if not hand:
            return self.turn(place._replace(ply=place.ply + 1))
        moves = legal_moves(hand, len(place.hands[you]), self.game.limit)
        wins = [m for m in moves if m[0] == ATTACK and sum(attack_value(m[1])) >= place.ci[you]]
        if wins:  # a win at once scores 1 and nothing scores more: the rest needs no branch
            moves = wins[:1]
        name = (me, place.ply, place.seen[me])
        if name not in self.sets:
            self.sets[name] = len(self.moves)
            self.moves.append(moves)
            self.features.append(
                (hand, place.disc, place.ci[me], place.ci[you], len(place.hands[you]),
                 place.known[me], place.known[you], place.ply)
            )  # fmt: skip
        here = self.node(3 * place.ply + 2, me, info=self.sets[name])
        for kind, cards in moves:
            self.link(here, self.after(place, kind, cards))
        return here

    def after(self, place: Place, kind: int, cards: Cards) -> int:
        """The node that a move leads to."""
        ply, me, you = place.ply, place.ply % 2, 1 - place.ply % 2
        left = minus(place.hands[me], cards)
        sure = minus(place.known[you], cards)  # what the other side is still sure of
        if kind == SWAP:
            return self.swapped(place, cards[0], left, sure)
        ci = list(place.ci)
        if kind == ATTACK:
            ci[you] -= sum(attack_value(cards))
            if ci[you] <= 0:
                return self.node(3 * ply + 3, -2, 1.0 if me == 0 else 0.0)
        else:
            ci[me] = min(self.game.integrity[me], ci[me] + cards[0])
        public = (kind, cards)
        return self.turn(
            Place(
                ply + 1, place.deck, plus(place.disc, *cards), pair(me, left, place.hands[you]),
                (ci[0], ci[1]), pair(me, place.known[me], sure),
                ((*place.seen[0], public), (*place.seen[1], public)),
            )
        )  # fmt: skip

    def swapped(self, place: Place, gave: int, left: Cards, sure: Cards) -> int:
        """Add the chance node of the card that a swap takes."""
        me, you = place.ply % 2, 1 - place.ply % 2
        here = self.node(3 * place.ply + 3, -1)
        for got, n in sorted(Counter(place.hands[you]).items()):
            event = ("swap", gave, got)
            yours = plus(minus(place.hands[you], (got,)), gave)
            i_know = plus(minus(place.known[me], (got,)), gave)
            after = place._replace(
                ply=place.ply + 1,
                hands=pair(me, plus(left, got), yours),
                known=pair(me, i_know, plus(sure, got)),
                seen=((*place.seen[0], event), (*place.seen[1], event)),
            )
            self.link(here, self.turn(after), n / len(place.hands[you]))
        return here

    def finish(self) -> Tree:
        """Convert the lists to arrays."""
        count = np.array([len(c) for c in self.children], dtype=np.int64)
        first = np.concatenate(([0], np.cumsum(count)[:-1])).astype(np.int64)
        level = np.array(self.level, dtype=np.int64)
        sizes = [len(m) for m in self.moves]
        return Tree(
            level, np.array(self.player, dtype=np.int64), np.array(self.info, dtype=np.int64),
            first, count,
            np.array([c for row in self.children for c in row], dtype=np.int64),
            np.array([p for row in self.odds for p in row]), np.array(self.payoff),
            np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            np.argsort(-level, kind="stable"),
        )  # fmt: skip
