"""Built-in opponents in a batch choose as they do at a table."""

from __future__ import annotations

from collections import Counter

import pytest

from duels.core.errors import OptionError
from duels.core.game import AnyGame, Decide
from duels.core.player import View
from duels.envs.kernels import have_numba, np
from duels.envs.opponents import Mixes, able
from duels.envs.vector import Batch, Versus
from duels.games import BUILT_IN, load
from duels.players import make

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not have_numba(), reason="needs the extra duels[rl]"),
]

SMALL: list[AnyGame] = [
    load("firewall-breach", strength="3/7"),
    load("number-clash", numbers=4),
    load("cipher-siege"),
    load("digit-duel", digits=4, life=4),
    load("digit-duel", digits=4, life=3, hidden=True),
    load("number-wars", numbers=3, lp=9),
]
CASES = [(game, name) for game in SMALL for name in able(game) if name != "random"]


def label(value: object) -> str:
    return value if isinstance(value, str) else str(value)


@pytest.mark.parametrize(("game", "opponent"), CASES, ids=label)
def test_a_choice_is_drawn_from_what_the_player_would_do(game: AnyGame, opponent: str) -> None:
    """Many games in the same position: every move comes up as often as its chance says."""
    trail = Batch(game, 1, seed=4)
    batch, moves, rows = Batch(game, 3000, seed=2), game.moves(), np.arange(3000)
    mixes, player = Mixes(game, opponent), make(opponent, "")
    for _ in range(4):
        trail.step(trail.random_actions())
        state = trail.state(0)
        for row in rows.tolist():
            batch.set_state(row, state)
        turn = game.turn(state)
        assert isinstance(turn, Decide)
        seat = max(turn.options)
        view = View(game, seat, game.observe(state, seat), (), turn.options[seat])
        expected = player.mix(view)
        assert expected is not None
        seen = batch.observation[:, seat] if batch.sealed else batch.observation
        picked = Counter(mixes.choose(batch, rows, np.full(3000, seat), seen).tolist())
        assert {moves[action] for action in picked} <= set(expected)
        for move, chance in expected.items():
            share = picked[moves.index(move)] / 3000
            assert abs(share - chance) < 5 * (chance * (1 - chance) / 3000) ** 0.5 + 1e-9


@pytest.mark.parametrize("game", SMALL, ids=label)
def test_a_game_does_not_depend_on_the_size_of_its_batch(game: AnyGame) -> None:
    def played(size: int) -> list[object]:
        games = Versus(game, size, seed=6, opponent="greedy", seat="alternate")
        shown: list[object] = []
        for _ in range(30):
            step = games.step(games.random_actions())
            shown.append([array[:5].tolist() for array in (*step, games.observation, games.mask)])
        return shown

    assert played(5) == played(64)


def test_perfect_against_perfect_has_the_known_value() -> None:
    game = load("firewall-breach")
    games = Versus(game, 2000, seed=3, opponent="perfect", seat=0)
    own, rows, seats = Mixes(game, "perfect"), np.arange(2000), np.zeros(2000, np.int64)
    won = ended = 0
    for _ in range(100):
        step = games.step(own.choose(games.batch, rows, seats, games.observation))
        won += int((step.rewards > 0).sum())
        ended += int(step.terminated.sum())
    value = 277 / 486
    assert abs(won / ended - value) < 4 * (value * (1 - value) / ended) ** 0.5


def test_an_opponent_may_be_named_by_its_beginning() -> None:
    assert isinstance(Versus(load("number-wars"), 2, opponent="gre").policy, Mixes)


@pytest.mark.parametrize("slug", BUILT_IN)
def test_an_opponent_that_needs_history_is_refused(slug: str) -> None:
    with pytest.raises(OptionError, match=f"in a batch of {slug} the opponent is one of random, "):
        Versus(load(slug), 2, opponent="ismcts")


def test_unknown_and_impossible_opponents_are_refused_in_one_line() -> None:
    with pytest.raises(OptionError, match=r"there is no player 'nobody'; .* or give a policy"):
        Versus(load("number-wars"), 2, opponent="nobody")
    with pytest.raises(OptionError, match="the opponent is one of random, greedy, or a policy"):
        Versus(load("cipher-siege"), 2, opponent="perfect")
    with pytest.raises(OptionError, match="got 'human'"):
        Versus(load("number-wars"), 2, opponent="human")
