"""Cipher Siege: the best response on the public tree, against the whole tree of small variants."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.algorithms import tables
from duels.games.cipher_siege.bounds.public_bounds import PublicResponder, tighten_bounds
from duels.games.cipher_siege.bounds.public_search import BEST, CEILING, ITSELF
from duels.games.cipher_siege.bounds.q_responder import Responder
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.strategy import CERTIFIED, EXPLOITABLE, KIND
from duels.games.cipher_siege.training.rebuild import rebuild
from duels.games.cipher_siege.training.run import Trainer
from tools.cipher_siege.leaks import copied, plant
from tools.cipher_siege.small_exact import Exact

# The search is mutually recursive, so numba compiles it anew in every process.
pytestmark = pytest.mark.long

# All of them are reshuffled before the cap but the third; in the last one may hold all cards.
CAPPED: list[tuple[dict[str, Any], int]] = [
    ({"values": 3, "copies": 2, "integrity": 5, "hand": 1, "limit": 3}, 7),
    ({"values": 3, "copies": 2, "integrity": "7/6", "hand": 1, "limit": 4}, 6),
    ({"values": 3, "copies": 2, "integrity": 8, "hand": 2, "limit": 3}, 2),
    ({"values": 3, "copies": 2, "integrity": 8, "hand": 2, "limit": 3}, 5),
    ({"values": 2, "copies": 2, "integrity": 9, "hand": 1, "limit": 5}, 6),
]
NUMBERS = range(len(CAPPED))


@cache
def half_trained(number: int, iterations: int = 300) -> tuple[Exact, Trainer]:
    options, cap = CAPPED[number]
    game = CipherSiege(**options)
    run = Trainer(game, 3, cap)
    run.run(iterations)
    return Exact(game, cap), run


def exact_value(number: int, store: Any, seat: int, best: bool) -> float:
    exact, run = half_trained(number)
    return exact.value(exact.import_strategy(run.tables, store), seat, best)


def responder(number: int, seat: int, store: Any = None, games: int = 0) -> PublicResponder:
    _, run = half_trained(number)
    store = run.store if store is None else store
    learner = Responder(seat, run.tables, store, 18)
    learner.learn(games)
    q_table = learner.q_table if games else None
    return PublicResponder(run.game, seat, run.tables, store, q_table)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("number", NUMBERS)
def test_searched_to_the_end_it_is_the_exact_best_response(number: int, seat: int) -> None:
    best = exact_value(number, half_trained(number)[1].store, seat, True)
    found = responder(number, seat).search(0.0)
    assert found.upper == pytest.approx(best, abs=1e-9)
    assert found.lower == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("number", NUMBERS)
def test_with_the_strategys_own_mix_it_is_the_strategys_value(number: int, seat: int) -> None:
    own = exact_value(number, half_trained(number)[1].store, seat, False)
    found = responder(number, seat).search(0.0, ITSELF)
    assert found.upper == pytest.approx(own, abs=1e-9)
    assert found.lower == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize("mode", [BEST, ITSELF])
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("number", NUMBERS)
def test_stopped_early_the_bounds_hold_and_close_in(number: int, seat: int, mode: int) -> None:
    truth = exact_value(number, half_trained(number)[1].store, seat, mode == BEST)
    asked = responder(number, seat)
    passes = [asked.search(tau, mode) for tau in (1e9, 1e-1, 1e-2, 1e-3, 0.0)]
    for found in passes:
        assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    gaps = [found.upper - found.lower for found in passes]
    assert gaps[-1] == pytest.approx(0, abs=1e-12)
    assert number != 3 or gaps[0] > 0.001, "there is something to search"


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("number", NUMBERS)
def test_the_upper_bound_alone_holds_and_ends_at_the_truth(number: int, seat: int) -> None:
    truth = exact_value(number, half_trained(number)[1].store, seat, True)
    asked = responder(number, seat)
    uppers = [asked.search(tau, CEILING).upper for tau in (1e-1, 1e-2, 1e-3, 0.0)]
    assert min(uppers) >= truth - 1e-12
    assert uppers[-1] == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    "leak",
    [0.005, 0.002, 0.02],
)
def test_a_leak_planted_in_one_seat_is_found_there(seat: int, leak: float) -> None:
    """`seat` responds; the leak costs the other one so much against the strategy itself. Nothing
    else is worth much to a best response, or it would pass the leak by for that."""
    number = 3
    exact, run = half_trained(number, 20_000)

    def against(share: float) -> tuple[Any, float]:
        """A leaking strategy, and what the sound one in `seat` scores against it."""
        store = copied(run.store)
        assert plant(run.tables, store, 1 - seat, share) > 3
        sound, leaking = (exact.import_strategy(run.tables, s) for s in (run.store, store))
        for info, owner in enumerate(exact.owner):
            if owner == seat:
                a, b = int(exact.tree.offset[info]), int(exact.tree.offset[info + 1])
                leaking[a:b] = sound[a:b]
        return store, exact.value(leaking, seat, False)

    own = exact_value(number, run.store, seat, False)
    whole = against(1.0)[1] - own
    assert whole > 0.02
    store, score = against(leak / whole)
    assert score - own == pytest.approx(leak, abs=2e-4)  # weights are floats of four bytes
    before, after = (responder(number, seat, s).search(0.0).upper for s in (run.store, store))
    assert after - before == pytest.approx(leak, rel=0.2)
    assert after >= score - 1e-9
    # The seat that leaks gains nothing by it.
    other = [responder(number, 1 - seat, s).search(0.0).upper for s in (run.store, store)]
    assert other[0] == pytest.approx(other[1], abs=1e-12)


@pytest.mark.parametrize("seat", [0, 1])
def test_a_player_of_the_plan_scores_what_the_search_says(seat: int) -> None:
    """Searched to the end; and stopped early, where what is learned makes it an estimate."""
    number = 3
    asked = responder(number, seat, games=200_000)
    found, played = asked.search(0.0), asked.score(400_000)
    assert played.mean == pytest.approx(found.lower, abs=1.5 * played.half)
    early, played = asked.search(3e-2), asked.score(400_000)
    assert early.lower < found.upper
    # Not a number more exact: a leaf before a reshuffle counts 0, whatever the player gets there.
    assert played.mean > early.lower - 0.01
    assert played.mean - 1.5 * played.half <= found.upper


@pytest.mark.long
@pytest.mark.parametrize("seat", [0, 1])
def test_bounds_close_in_pass_after_pass(seat: int) -> None:
    passes = list(tighten_bounds(responder(3, seat, games=200_000), 60.0, 400_000))
    assert len(passes) > 2
    for one, two in pairwise(passes):
        assert one.lower <= two.lower <= two.upper <= one.upper
    assert passes[-1].upper - passes[-1].lower < 0.004


def test_a_training_ends_by_measuring(tmp_path: Path) -> None:
    game = CipherSiege(**CAPPED[0][0])
    rebuild(game, lambda part, doing: None, str(tmp_path / "table"), iterations=2000, measure=1.0)
    facts = tables.load(str(tmp_path / "table"), game, KIND).facts
    assert facts["iterations"] == 2000
    # What a best response gains lies between the two.
    assert 0 <= facts[EXPLOITABLE] <= facts[CERTIFIED] < 0.1
    assert all(low <= high for low, high in facts["best response"])
