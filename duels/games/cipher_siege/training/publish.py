"""Conversion of a training run to the published table, and of a table to a store for kernels."""

from __future__ import annotations

from collections.abc import Iterable

from duels.algorithms.compiled import Array, compiled, np
from duels.games.cipher_siege.compiled_keys import hand_at, is_coarse, moves_at
from duels.games.cipher_siege.compiled_policy import new_scratch, self_play
from duels.games.cipher_siege.compiled_rules import new_states
from duels.games.cipher_siege.compiled_tables import Tables, build_tables
from duels.games.cipher_siege.rules import CipherSiege
from duels.games.cipher_siege.store import Store, insert_all, new_store
from duels.games.cipher_siege.strategy import SCALE, Stored
from duels.games.cipher_siege.training.evaluate import Evaluator
from duels.games.cipher_siege.training.run import FINE_PLIES, Trainer

DROP = 0.01  # moves played less often than this are noise of the averaging
# Visits of the learner from which a state is published. A fine state with fewer plays worse than
# its coarse state, which combines the visits of many fine ones.
FINE_VISITS, COARSE_VISITS = 60.0, 3.0
MOST = 500_000  # states of a table, those with the largest weights: about 10 MB
RESOLUTION = 255


@compiled
def weights_of(keys: Array, where: Array, tb: Tables, st: Store, out: Array) -> None:
    """The weight of each state in self-play; 0 if the state is not published."""
    for i in range(keys.shape[0]):
        visits = st.pool[0, where[i] + tb.total_actions[hand_at(keys[i], tb)]]
        out[i] = 0.0
        if visits >= (COARSE_VISITS if is_coarse(keys[i], tb) else FINE_VISITS):
            out[i] = st.pool[1, where[i] : where[i] + moves_at(keys[i], tb)].sum()


@compiled
def coded_strategies(
    keys: Array, where: Array, tb: Tables, st: Store, at: Array, coded: Array
) -> None:
    """The mixed strategy of each state in bytes: state i fills coded[at[i] : at[i + 1]]."""
    for i in range(keys.shape[0]):
        n = moves_at(keys[i], tb)
        at[i + 1] = at[i] + n
        strategy = st.pool[1, where[i] : where[i] + n].astype(np.float64)
        strategy /= strategy.sum()
        for a in range(n):
            if strategy[a] < DROP:
                strategy[a] = 0.0
        strategy /= strategy.sum()
        for a in range(n):
            coded[at[i] + a] = np.uint8(np.rint(RESOLUTION * strategy[a]))


def collect(run: Trainer, most: int = MOST) -> list[Stored]:
    """The states to publish, in key order, without values."""
    st = run.store
    used = np.nonzero(st.keys)[0]
    used = used[np.argsort(st.keys[used])]
    weight = np.zeros(len(used))
    weights_of(st.keys[used], st.where[used], run.tables, st, weight)
    enough = float(np.partition(weight, -most)[-most]) if len(used) > most else 0.0
    used = used[(weight > 0.0) & (weight >= enough)]
    keys, where = st.keys[used], st.where[used]
    at = np.zeros(len(keys) + 1, dtype=np.int64)
    coded = np.zeros(int(st.used[1]), dtype=np.uint8)
    coded_strategies(keys, where, run.tables, st, at, coded)
    weights: bytes = coded.tobytes()
    places = at.tolist()
    states = []
    for key, begin, end in zip(keys.tolist(), places, places[1:], strict=False):
        strategy = [(move, weight) for move, weight in enumerate(weights[begin:end]) if weight]
        states.append(Stored(key, end - begin, strategy, b""))
    return states


def valued(states: list[Stored], evaluator: Evaluator) -> list[Stored]:
    """The states with the values of their moves, without states that no play-out reached."""
    keys = np.array([state.key for state in states], dtype=np.uint64)
    at = np.cumsum([0, *(state.moves for state in states)])
    found = evaluator.values(keys, at)
    worth: bytes = np.rint(SCALE * np.clip(found, 0.0, 1.0)).astype(np.uint8).tobytes()
    places = at.tolist()
    return [
        state._replace(values=worth[begin:end])
        for state, begin, end in zip(states, places, places[1:], strict=False)
        if (found[begin:end] >= 0.0).all()
    ]


def frozen(
    game: CipherSiege, states: Iterable[Stored], fine_plies: int = FINE_PLIES
) -> tuple[Tables, Store]:
    """A strategy as a store for compiled code; row 1 of the pool has the weights of the moves."""
    kept = list(states)
    tables = build_tables(game, fine_plies)
    cells = sum(state.moves for state in kept)
    store = new_store(max(10, len(kept).bit_length() + 1), cells + 1)
    where = np.zeros(len(kept), dtype=np.int64)
    at = 0
    for number, state in enumerate(kept):
        where[number] = at
        for move, weight in state.weights:
            store.pool[1, at + move] = weight
        at += state.moves
    insert_all(np.array([state.key for state in kept], dtype=np.uint64), where, store)
    store.used[1] = at
    return tables, store


def first_player(tables: Tables, store: Store, games: int = 1_000_000, seed: int = 31337) -> float:
    """The first player's score when a strategy plays itself."""
    rng = np.array([seed], dtype=np.uint64)
    return float(self_play(games, tables, store, new_scratch(), new_states(), rng))
