"""What a player of Cipher Siege knows from the past, for agents without a memory of their own."""

from __future__ import annotations

from random import Random

import pytest

from duels.core.conformance import play_randomly
from duels.core.game import Outcome, Pick
from duels.games import load
from duels.games.cipher_siege.infostate import Memory


def recalled(swap: str, history: tuple[Pick | Outcome, ...], player: int) -> dict[str, int]:
    game = load("cipher-siege", swap=swap)
    numbers = dict(zip(game.recalled(), game.recall(history, player), strict=True))
    return {name: number for name, number in numbers.items() if number}


def test_a_card_given_in_a_swap_is_known_until_it_is_played() -> None:
    history: tuple[Pick | Outcome, ...] = (Outcome("4", 0), Pick(((0, "swap 2"),)), Outcome("5", 0))
    assert recalled("random", history, 0) == {
        "other 2s known": 1, "own 5s known": 1, "own swapped last": 1,
    }  # fmt: skip
    history += (Outcome("?", 1), Pick(((1, "attack 2 3"),)))
    assert recalled("random", history, 0) == {
        "own 5s known": 1, "own swapped last": 1, "other last attack": 5,
    }  # fmt: skip
    assert recalled("random", history, 1) == {
        "other 5s known": 1, "other swapped last": 1, "own last attack": 5,
    }  # fmt: skip


def test_both_learn_both_cards_where_the_opponent_chooses_one() -> None:
    giver = (Pick(((0, "swap 2"),)), Pick(((1, "5"),)))
    chooser = (Pick(((0, "swap ?"),)), Pick(((1, "5 for 2"),)))
    assert recalled("chosen", giver, 0) == {
        "other 2s known": 1, "own 5s known": 1, "own swapped last": 1,
    }  # fmt: skip
    assert recalled("chosen", chooser, 1) == {
        "own 2s known": 1, "other 5s known": 1, "other swapped last": 1,
    }  # fmt: skip
    assert recalled("chosen", giver[:1], 0) == {"own swapped last": 1}


@pytest.mark.parametrize("swap", ["random", "chosen"])
def test_what_is_known_is_there(swap: str) -> None:
    """In random games no card is recalled that is not held, and the solver remembers the same."""
    game, known = load("cipher-siege", swap=swap), 0
    for seed in range(60):
        match = play_randomly(game, seed, Random(seed), turn_limit=40)
        for player in (0, 1):
            history = match.view(player).history
            numbers = game.recall(history, player)
            hands = match.state.hands
            swapping = match.state.phase == "swap"
            for holder, counts in ((1 - player, numbers[:5]), (player, numbers[5:10])):
                held = [hands[holder].count(card) for card in range(1, 6)]
                assert swapping or all(c <= h for c, h in zip(counts, held, strict=True))
                known += sum(counts)
            if swap == "random":
                memory = Memory(history, 5).known
                assert numbers[:10] == (*memory[1 - player], *memory[player])
    assert known > 20
