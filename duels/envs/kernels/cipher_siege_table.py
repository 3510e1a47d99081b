"""What the kernel of Cipher Siege looks up: the options of a variant, its moves and its hands."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import comb
from operator import mul
from typing import NamedTuple

from duels.core.pieces import Cards
from duels.envs.kernels import Array, NoKernel, np
from duels.games.cipher_siege import CipherSiege, attack_value, cards_of

WORDS = ("attack", "defend", "swap", "give", "pass")
ATTACK, DEFEND, SWAP, GIVE, PASS = range(5)
WIDTH, FIELD, CLEAR = 6, 63, 32
MOST_HANDS = 20_000  # of a table that takes a second or two to make
MOST_MASKS = 10_000_000  # bytes of a table of masks

# First come the options and where tables begin:
(
    INTEGRITY, _, VALUES, DEALT, LIMIT, CHOSEN, FIRST, CARDS, NUMBER, GUARD,
    RANKS, MOVES, ROWS,
) = range(13)  # fmt: skip
OPTIONS = 13
# Then RANKS: the number of a hand is the sum over its values of the rank of (value, room left for
# this and later values, count). MOVES: four numbers each, what it is, its cards packed, how many
# they are, and its damage or gain. ROWS: three for each hand (without swap, with it, what may be
# given), each row as where its moves begin and end, and then those lists of moves.
KIND, PLAYED, COUNT, WORTH = range(4)
FIELDS = 4


def packed(cards: Cards) -> int:
    """
    >>> packed((1, 1, 2)) == 2 + (1 << WIDTH)
    True
    """
    return sum(1 << WIDTH * (card - 1) for card in cards)


def unpacked(word: int) -> Cards:
    return tuple(
        place + 1
        for place in range(word.bit_length() // WIDTH + 1)
        for _ in range(word >> WIDTH * place & FIELD)
    )


class Rules(NamedTuple):
    words: Array
    masks: Array  # which moves each row lists, 1 or 0 for each; empty if that took too much room
    packed: Array  # the same as bits


def hands_of(game: CipherSiege) -> int:
    """How many hands there are, of up to one card more than the limit."""
    return comb(game.limit + 1 + game.values, game.values)


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
    kind, cards = WORDS.index(move.split()[0]), cards_of(move)
    worth = sum(attack_value(cards)) if kind == ATTACK else sum(cards)
    return kind, packed(cards), len(cards), worth


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

    def add(kind: int, words: Iterable[int]) -> int:
        lists.extend(index[kind, word] for word in words if (kind, word) in index)
        return at + len(lists)

    for counts in hands:
        held = [one for one, number in zip(singles, counts, strict=True) if number]
        parts = product(*(range(number + 1) for number in counts))
        begun = at + len(lists)
        add(ATTACK, (sum(map(mul, part, singles)) for part in parts))
        add(PASS, () if held else (0,))
        plain = add(DEFEND, held)
        swaps = add(SWAP, held)
        bounds += [begun, plain, begun, swaps, swaps, add(GIVE, held)]
    return bounds + lists


def _hands(values: int, room: int) -> list[tuple[int, ...]]:
    """All counts of `values` values that sum to at most `room`, in the order of `_ranks`."""
    if values == 0:
        return [()]
    return [(held, *rest) for held in range(room + 1) for rest in _hands(values - 1, room - held)]


def hand_number(hand: Cards, values: int, room: int) -> int:
    """The number of a hand in that order."""
    number = 0
    for value in range(1, values + 1):
        held, others = hand.count(value), values - value
        number += sum(comb(room - fewer + others, others) for fewer in range(held))
        room -= held
    return number
