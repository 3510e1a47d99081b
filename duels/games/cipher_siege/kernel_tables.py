"""Lookup tables of the Cipher Siege kernel: the options of a variant, its moves and its hands."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from operator import mul
from typing import NamedTuple

from duels.core.pieces import Cards
from duels.games.cipher_siege.encoding import CLEAR, WIDTH, hand_moves, packed
from duels.games.cipher_siege.rules import KINDS, SWAP, CipherSiege, cards_of, worth
from duels.kernels import Array, NoKernel, np

GIVE, PASS = 3, 4  # kinds of moves besides those of the rules
MOST_HANDS = 20_000  # in a table; that many take a second or two to compute
MOST_MASKS = 10_000_000  # bytes of a table of masks

# First come the options and the offsets of the tables:
(
    INTEGRITY, _, VALUES, DEALT, LIMIT, CHOSEN, FIRST, CARDS, NUMBER, GUARD,
    RANKS, MOVES, ROWS,
) = range(13)  # fmt: skip
OPTIONS = 13
# Then RANKS: the number of a hand is the sum over its values of the rank of (value, room left for
# this and later values, count). MOVES: four numbers each, the kind, the cards as a packed word,
# how many there are, and the damage or gain. ROWS: three for each hand (without swap, with swap,
# cards to give), each as the offsets of the first and after the last move, then the lists of moves.
KIND, PLAYED, COUNT, WORTH = range(4)
FIELDS = 4


class Rules(NamedTuple):
    """The lookup tables of one variant."""

    words: Array
    masks: Array  # by row: 1 for each move that it lists, else 0; empty if too large
    packed: Array  # the same as bits


def hands_of(game: CipherSiege) -> int:
    """The number of hands with up to one card more than the limit."""
    return comb(game.limit + 1 + game.values, game.values)


@lru_cache(maxsize=4)  # expensive to compute; the chunks of a tournament share it
def rules(game: CipherSiege) -> Rules:
    room, hands = game.limit + 1, hands_of(game)
    if hands > MOST_HANDS:
        raise NoKernel(
            f"values={game.values} with limit={game.limit} has {hands} possible hands; "
            f"the kernel's table takes {MOST_HANDS} at most"
        )
    deck = game.start().deck
    guard = sum(CLEAR << WIDTH * place for place in range(game.values))
    moves = [_move(move) for move in game.moves()]
    ranks = _ranks(game.values, room)
    at_moves = OPTIONS + len(ranks)
    at_rows = at_moves + FIELDS * len(moves)
    options = [
        *game.integrity, game.values, game.hand, game.limit, game.swap == "chosen", game.first,
        packed(deck), len(deck), guard, OPTIONS, at_moves, at_rows,
    ]  # fmt: skip
    flat = [number for move in moves for number in move]
    words = np.array([*options, *ranks, *flat, *_rows(game, moves, at_rows)], np.int64)
    rows = 3 * hands if 3 * hands * len(moves) <= MOST_MASKS else 0
    masks = np.zeros((rows, len(moves)), np.uint8)
    for row, mask in enumerate(masks):
        begin, end = words[at_rows + 2 * row : at_rows + 2 * row + 2]
        mask[words[begin:end]] = 1
    return Rules(words, masks, np.packbits(masks, axis=1, bitorder="little"))


def _move(move: str) -> tuple[int, int, int, int]:
    """A move as the four numbers of MOVES."""
    if move.isdigit():
        return GIVE, packed((int(move),)), 1, int(move)
    if move == "pass":
        return PASS, 0, 0, 0
    kind, cards = KINDS[move.split()[0]], cards_of(move)
    return kind, packed(cards), len(cards), worth(kind, cards)


def _ranks(values: int, room: int) -> list[int]:
    """Hands in the order of their counts, lowest value first, as sums over the values."""
    ranks = []
    for others in reversed(range(values)):
        for left in range(room + 1):
            rank = 0
            for held in range(room + 1):
                ranks.append(rank)
                rank += comb(left - held + others, others) if held <= left else 0
    return ranks


def _rows(game: CipherSiege, moves: list[tuple[int, int, int, int]], at: int) -> list[int]:
    """The moves of every hand. Swaps come last, so that rows with and without share them."""
    index = {(kind, cards): number for number, (kind, cards, _, _) in enumerate(moves)}
    singles = [1 << WIDTH * place for place in range(game.values)]
    hands = _hands(game.values, game.limit + 1)
    at += 6 * len(hands)  # where the first list begins, after the beginnings and ends
    bounds: list[int] = []
    lists: list[int] = []
    for counts in hands:
        begun, plain, gifts = at + len(lists), 0, []
        for kind, played in hand_moves(counts):
            word = sum(map(mul, played, singles))
            if kind == SWAP:
                plain = plain or at + len(lists)
                gifts.append((GIVE, word))
            if (kind, word) in index:
                lists.append(index[kind, word])
        if not any(counts) and (PASS, 0) in index:
            lists.append(index[PASS, 0])
        swaps = at + len(lists)
        lists += [index[gift] for gift in gifts if gift in index]
        bounds += [begun, plain or swaps, begun, swaps, swaps, at + len(lists)]
    return bounds + lists


def _hands(values: int, room: int) -> list[tuple[int, ...]]:
    """All counts of `values` values that sum to at most `room`, in the order of `_ranks`."""
    if values == 0:
        return [()]
    return [(held, *rest) for held in range(room + 1) for rest in _hands(values - 1, room - held)]


def hand_number(hand: Cards, values: int, room: int) -> int:
    """The number of a hand in the order of `_ranks`."""
    number = 0
    for value in range(1, values + 1):
        held, others = hand.count(value), values - value
        number += sum(comb(room - fewer + others, others) for fewer in range(held))
        room -= held
    return number
