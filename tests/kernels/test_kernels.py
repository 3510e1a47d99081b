"""The kernels against the pure rules, step for step, on the same dice and cards.

The streams of random numbers are computed here a second time, in plain Python: what chance brings
to a kernel is then known beforehand, and the pure rules are given the same.

`DUELS_STEPS=1000000` walks a million random steps of each game; the default is 2,500.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import product
from typing import Any

import pytest

pytest.importorskip("numba", reason="needs the extra: pip install 'duels[solve]'")

from duels.core.game import AnyGame, Chance, Decide, Over
from duels.core.payoffs import payoffs
from duels.envs.batch import Batch
from duels.games import BUILT_IN, load
from duels.kernels import np
from duels.kernels.driver import BY_FORFEIT, BY_LIMIT, BY_RULES
from duels.kernels.random_streams import (
    CHANCE,
    GOLDEN,
    LOW,
    PICKS,
    SPACING,
    WORD,
    below,
    keys,
    seed_word,
    splitmix64,
)
from tests.variants import VARIANTS, name

pytestmark = pytest.mark.slow

STEPS = int(os.environ.get("DUELS_STEPS", "2500"))


class Dice:
    """The chance of one game of a batch, in plain Python."""

    def __init__(self, seed: int, index: int, stream: int = CHANCE) -> None:
        self.word = splitmix64((seed_word(seed) + (2 * index + stream) * SPACING) & WORD)

    def below(self, bound: int) -> int:
        while True:
            self.word = (self.word + GOLDEN) & WORD
            product = (splitmix64(self.word) >> 32) * bound
            if product & LOW >= (1 << 32) % bound:
                return product >> 32

    def outcome(self, state: Any, chance: Chance) -> str:
        """A card of the pile, each equally likely, or else a face of the die."""
        cards = list(chance.odds)
        if hasattr(state, "deck"):
            swapping = state.phase == "swap"
            pile = state.hands[1 - state.mover] if swapping else state.deck or state.discard
            cards = [str(card) for card in pile]
        return cards[self.below(len(cards))]


def settle(game: AnyGame, state: Any, dice: Dice) -> tuple[Any, Decide | Over]:
    """The next state in which a player chooses or the game is over, and its turn."""
    while isinstance(turn := game.turn(state), Chance):
        state = game.play(state, dice.outcome(state, turn))
    return state, turn


class Walk:
    """A batch and, beside it, each of its games by the pure rules."""

    def __init__(
        self,
        game: AnyGame,
        size: int,
        seed: int,
        turn_limit: int = 500,
        dice: type[Dice] = Dice,
    ) -> None:
        self.game = game
        self.batch = Batch(game, size, seed, turn_limit=turn_limit)
        self.dice = [dice(seed, index) for index in range(size)]
        self.nodes = [settle(game, game.start(), dice) for dice in self.dice]
        self.decisions = [0] * size
        self.index = {move: number for number, move in enumerate(game.moves())}
        self.endings: Counter[int] = Counter()

    def check(self) -> None:
        """State, player, mask and observation of every game are those of the pure rules."""
        batch, game = self.batch, self.game
        players = batch.player.tolist()
        shape = (batch.size, 2 if batch.sealed else 1, -1)
        masks = batch.mask.reshape(shape)
        expected = np.zeros_like(masks)
        seen: list[tuple[int, ...]] = []
        for i, (state, turn) in enumerate(self.nodes):
            assert batch.state(i) == state
            assert batch.decisions(i) == self.decisions[i]
            assert isinstance(turn, Decide)
            assert players[i] == (-1 if batch.sealed else next(iter(turn.options)))
            for s, (player, options) in enumerate(turn.options.items()):
                expected[i, s, [self.index[move] for move in options]] = True
                seen.append(game.encode(game.observe(state, player), player))
        assert np.array_equal(masks, expected)
        assert np.array_equal(batch.observation.reshape(len(seen), -1), seen)

    def step(self, actions: Any) -> None:
        """Play in both; rewards, endings and last views are those of the pure rules."""
        batch, game = self.batch, self.game
        rewards, terminated, truncated = batch.step(actions)
        chosen = actions.reshape(batch.size, -1).tolist()
        moves = game.moves()
        for i, (state, _) in enumerate(self.nodes):
            after = game.play(state, *[moves[action] for action in chosen[i]])
            after, turn = settle(game, after, self.dice[i])
            self.decisions[i] += 1
            over = isinstance(turn, Over)
            limited = not over and self.decisions[i] >= batch.turn_limit
            assert (terminated[i], truncated[i]) == (over, limited)
            paid = payoffs(turn if isinstance(turn, Over) else None)
            assert tuple(rewards[i].tolist()) == paid
            assert batch.ending[i] == (BY_RULES if over else BY_LIMIT if limited else 0)
            self.endings[int(batch.ending[i])] += 1
            if over or limited:
                for player in (0, 1):
                    last = game.encode(game.observe(after, player), player)
                    assert tuple(batch.final_observation[i, player]) == last
                after, turn = settle(game, game.start(), self.dice[i])
                self.decisions[i] = 0
            self.nodes[i] = after, turn


@pytest.mark.parametrize("steps", [STEPS, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("slug", BUILT_IN)
def test_random_steps_of_each_game(slug: str, steps: int) -> None:
    walk = Walk(load(slug), size=20, seed=17)  # few games, so that they end
    walk.check()
    for _ in range(steps // 20):
        walk.step(walk.batch.random_actions())
        walk.check()
    assert walk.endings[BY_RULES] > steps // 200  # the longest games have about 100 steps


@pytest.mark.cases(8)
@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_random_steps_of_each_variant(game: AnyGame) -> None:
    size, steps = (10, 20) if len(game.moves()) > 5000 else (50, 60)
    walk = Walk(game, size=size, seed=3, turn_limit=40)
    walk.check()
    for _ in range(steps):
        walk.step(walk.batch.random_actions())
        walk.check()


def reachable(game: AnyGame) -> list[Any]:
    """Every state in which a player chooses, by the pure rules."""
    found: dict[Any, None] = {}
    ahead, met = [game.start()], {game.start()}
    while ahead:
        state = ahead.pop()
        turn = game.turn(state)
        if isinstance(turn, Over):
            continue
        if isinstance(turn, Chance):
            following = [game.play(state, outcome) for outcome in turn.odds]
        else:
            found[state] = None
            following = [game.play(state, *picks) for picks in product(*turn.options.values())]
        for after in following:
            if after not in met:
                met.add(after)
                ahead.append(after)
    return list(found)


SMALL = [
    load("firewall-breach"),
    load("firewall-breach", strength="5/4", hit=2, bypass=2, first=1),
    load("number-clash", numbers=4),
    load("number-clash", numbers=3, points=3),
    load("cipher-siege", values=2, copies=2, integrity=4, hand=1, limit=2),
    load("cipher-siege", values=2, copies=2, integrity="3/4", hand=2, limit=2, swap="chosen"),
    load("cipher-siege", values=3, copies=2, integrity=2, hand=1, limit=1, first=1),
    load("cipher-siege", values=2, copies=2, integrity=3, hand=2, limit=4),  # with passing
    load("digit-duel", digits=4, life=4),
    load("digit-duel", digits=4, life="3/4", hidden=True, first=1),
    load("number-wars", numbers=3, lp=9),
    load("number-wars", numbers=3, lp="5/7", refresh=False, first=1),
]


def step_everywhere(game: AnyGame, states: list[Any], times: int, dice: type[Dice] = Dice) -> Walk:
    """A batch that has made each move of each state, and agreed with the rules."""
    index = {move: number for number, move in enumerate(game.moves())}
    rows = [
        (state, [index[move] for move in picks])
        for state in states
        for picks in product(*game.turn(state).options.values())  # type: ignore[union-attr]
        for _ in range(times)
    ]
    walk = Walk(game, size=len(rows), seed=5, dice=dice)
    for i, (state, _) in enumerate(rows):
        walk.batch.set_state(i, state)
        walk.nodes[i] = settle(game, state, walk.dice[i])
    walk.check()
    actions = np.array([picks for _, picks in rows])
    walk.step(actions if walk.batch.sealed else actions[:, 0])
    walk.check()
    return walk


@pytest.mark.cases(6)
@pytest.mark.parametrize("game", SMALL, ids=name)
def test_every_state_and_every_move(game: AnyGame) -> None:
    """Each move of each reachable state, several times where chance follows."""
    states = reachable(game)
    walk = step_everywhere(game, states, times=4 if is_random(game) else 1)
    met = {state for state, _ in walk.nodes}
    if is_random(game):  # every state that has one before it came up among those after
        assert len(met) >= 0.9 * len(states)


def is_random(game: AnyGame) -> bool:
    return game.slug in ("firewall-breach", "cipher-siege")


@pytest.mark.cases(8)
@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_exactly_the_masked_actions_forfeit(game: AnyGame) -> None:
    """Every action, legal or not, from states along some games; sealed, beside a legal one."""
    trail, actions = Batch(game, 2, seed=9), np.arange(min(len(game.moves()), 2000))
    batch = Batch(game, len(actions), seed=1)
    for _ in range(12):
        trail.step(trail.random_actions())
        for player in (0, 1) if batch.sealed else (0,):
            for i in range(batch.size):
                batch.set_state(i, trail.state(0))
            mask = batch.mask.reshape(batch.size, -1, len(game.moves()))[0, player]
            picks = batch.random_actions().reshape(batch.size, -1)
            picks[:, player] = actions
            mover = player if batch.sealed else batch.player[0]
            rewards = batch.step(picks if batch.sealed else actions).rewards
            forfeits = batch.ending == BY_FORFEIT
            assert np.array_equal(forfeits, ~mask[actions])
            assert (rewards[forfeits, mover] == -1).all()


@pytest.mark.parametrize("game", [load("cipher-siege"), load("cipher-siege", swap="chosen")])
def test_what_a_player_sees_does_not_depend_on_what_is_hidden(game: AnyGame) -> None:
    """The same position with the other's hand and the deck dealt again looks the same."""
    batch = Batch(game, 400, seed=8)
    for _ in range(7):
        batch.step(batch.random_actions())
    seen, masks = batch.observation.copy(), batch.mask.copy()
    shuffled = np.random.default_rng(4)
    changed = 0
    for i in range(batch.size):
        state = batch.state(i)
        viewer = int(batch.player[i])
        other = 1 - viewer
        hidden = [*state.hands[other], *state.deck]
        shuffled.shuffle(hidden)
        held = len(state.hands[other])
        hand, deck = tuple(sorted(hidden[:held])), tuple(sorted(hidden[held:]))
        hands = (hand, state.hands[1]) if other == 0 else (state.hands[0], hand)
        offered = hand[0] if state.offered and hand else 0
        double = state._replace(hands=hands, deck=deck, offered=offered)
        changed += double != state
        batch.set_state(i, double)
    assert changed > 200
    assert np.array_equal(batch.observation, seen)
    assert np.array_equal(batch.mask, masks)


def fits(counts: Any, expected: Any) -> bool:
    """Pearson's test at about five standard deviations: it fails by bad luck once in millions."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    freedom = len(counts) - 1
    statistic = ((counts - expected) ** 2 / expected).sum()
    return bool(statistic < freedom + 5 * (2 * freedom) ** 0.5 + 5)


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 20, 441, 3 << 30, (1 << 31) + 1, (1 << 32) - 1])
def test_numbers_below_a_bound(bound: int) -> None:
    """With the large bounds, up to half of all numbers are passed over to keep the odds exact."""
    streams = keys(77, 3)
    for index in range(3):
        for stream in (CHANCE, PICKS):
            dice = Dice(77, index, stream)
            ours = [below(streams, index, stream, bound) for _ in range(200)]
            assert ours == [dice.below(bound) for _ in range(200)]
            assert all(0 <= number < bound for number in ours)


def test_the_die_is_fair() -> None:
    batch = Batch(load("firewall-breach"), 100_000, seed=11)
    batch.step(np.zeros(batch.size, np.int64))
    hits = int((batch.observation[:, 0] == 7).sum())
    assert fits([hits, batch.size - hits], [batch.size / 2] * 2)


def test_the_deal_is_fair() -> None:
    """A hand of four from twenty cards: its sum of values, and each value's number of cards."""
    batch = Batch(load("cipher-siege"), 100_000, seed=12)
    held = batch.observation[:, 2:7]
    assert (held.sum(axis=1) == 4).all()
    chances = [1820, 2240, 720, 64, 1]  # ways to hold so many of a value: C(4,k) C(16,4-k)
    for value in range(5):
        counts = np.bincount(held[:, value], minlength=5)
        assert fits(counts, [batch.size * ways / 4845 for ways in chances])


@pytest.mark.parametrize("slug", BUILT_IN)
def test_random_actions_are_legal_and_equally_likely(slug: str) -> None:
    batch = Batch(load(slug), 60_000, seed=13)
    first = batch.state(0)
    for i in range(batch.size):
        if batch.state(i) != first:
            batch.set_state(i, first)
    actions = batch.random_actions().reshape(batch.size, -1)
    masks = batch.mask.reshape(batch.size, actions.shape[1], -1)
    for s in range(actions.shape[1]):
        options = np.flatnonzero(masks[0, s])
        counts = np.bincount(actions[:, s], minlength=len(batch.moves))
        assert counts.sum() == counts[options].sum()
        assert fits(counts[options], [batch.size / len(options)] * len(options))


def test_a_stream_is_the_published_one() -> None:
    """SplitMix64 from seed 0, as its author prints it."""
    words = [splitmix64(n * GOLDEN & WORD) for n in (1, 2, 3)]
    assert words == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
