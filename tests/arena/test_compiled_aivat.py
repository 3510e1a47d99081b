"""Compiled AIVAT of many games equals that of each game by the pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from duels.arena import aivat
from duels.core import Match
from duels.core.game import AnyGame, Chance, Outcome
from duels.games import load
from duels.players import make_opponent
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker

np = pytest.importorskip("numpy")
pytest.importorskip("numba", reason="batches need the extra rl")

from duels.arena.compiled_aivat import Adjusted, adjusted, distinct  # noqa: E402
from duels.arena.scores import Moments  # noqa: E402
from duels.envs.opponents import chooser  # noqa: E402
from duels.kernels.pairs import PlayedGames, play_pairs, replay_game  # noqa: E402
from duels.measure import head_to_head  # noqa: E402

GAMES = [
    load("firewall-breach"),
    load("firewall-breach", strength="4/3", first="2"),
    load("number-clash", numbers=5, points=2),
    load("digit-duel", digits=5, life=4),
    load("digit-duel", digits=4, life=3, hidden="yes"),
    load("number-wars", lp=20, numbers=5),
    load("cipher-siege"),
    KuhnPoker(),
    LeducPoker(),
    Goofspiel(cards=3),
]
PLAYERS = [("perfect", "random"), ("easy", "greedy"), ("hard", "medium")]
LIMIT = 1000
# One game with chance, one without, one on the tree of its positions; the others are in the long
# tier.
QUICK = {("firewall-breach", "easy"), ("number-wars", "easy"), ("kuhn-poker", "easy")}
CASES = [
    pytest.param(
        game, players, id=f"{game.slug} {game.differing()} {' '.join(players)}",
        marks=() if (game.slug, players[0]) in QUICK else pytest.mark.long,
    )
    for game in GAMES
    for players in PLAYERS
]  # fmt: skip


def watched(game: AnyGame, players: Sequence[str], pairs: int, limit: int = LIMIT) -> PlayedGames:
    one, two = (chooser(game, name) for name in players)
    assert one is not None
    assert two is not None
    return play_pairs(game, one, two, 7, range(pairs), limit, watch=True)


def by_hand(game: AnyGame, met: PlayedGames, number: int, limit: int) -> Match:
    """A game of a batch as a match: its moves, and the chance that its states tell of."""
    begin = int(met.choices[:number].sum())
    actions = met.actions[begin : begin + int(met.choices[number])]
    states = replay_game(game, actions, 7, number // 2, limit).states
    match, moves = Match(game, turn_limit=limit), game.moves()

    def chance(wanted: Any) -> None:
        """Outcomes until the state is the wanted one; the first that leads there will do."""
        while match.result is None and isinstance(match.turn, Chance):
            for outcome in match.turn.odds:
                if leads(match.state, outcome, wanted):
                    match.enact(Outcome(outcome, match.turn.by))
                    break
            else:
                raise AssertionError("no outcome leads there")

    def leads(state: Any, outcome: str, wanted: Any) -> bool:
        after = game.play(state, outcome)
        turn = game.turn(after)
        if not isinstance(turn, Chance):
            return bool(after == wanted)
        return any(leads(after, further, wanted) for further in turn.odds)

    chance(states[0])
    for action, wanted in zip(actions.tolist(), states[1:], strict=True):
        for seat, chosen in zip(match.deciders, action, strict=False):
            match.submit(seat, moves[chosen])
        chance(wanted)
    return match


@pytest.mark.cases(2)
@pytest.mark.parametrize(("game", "players"), CASES)
def test_a_batch_and_the_rules_agree_on_every_game(game: AnyGame, players: tuple[str, str]) -> None:
    met = watched(game, players, 4)
    found = adjusted(game, players, met, LIMIT)
    assert found is not None
    for number in range(len(met.winner)):
        match = by_hand(game, met, number, LIMIT)
        assert match.result is not None
        names = players if number % 2 == 0 else players[::-1]
        mixes = [make_opponent(name, "").mixed_strategy for name in names]
        alone = aivat.adjusted(match, mixes, (names[0], names[1]))
        assert alone.score == pytest.approx(float(found.score[number]), abs=1e-7)
        assert alone.regret is not None
        assert alone.graded is not None
        assert tuple(found.graded[number]) == alone.graded
        assert found.regret[number].tolist() == pytest.approx(alone.regret, abs=1e-9)


def test_a_wrong_mix_in_a_batch_is_seen() -> None:
    """A planted fault: the names of the players exchanged."""
    game, players = load("number-clash"), ("random", "greedy")
    met = watched(game, players, 4000)
    assert abs(gap(players, met, adjusted(game, players, met, LIMIT))) < 4
    assert abs(gap(players, met, adjusted(game, players[::-1], met, LIMIT))) > 6


def gap(players: Sequence[str], met: PlayedGames, found: Adjusted | None) -> float:
    """How many standard errors the mean of the adjusted scores is from that of the scores."""
    assert found is not None
    raw = np.where(met.winner == 2, 0.5, 1.0 - met.winner)
    seat = np.arange(len(raw)) % 2
    off = np.where(seat == 0, found.score - raw, raw - found.score).reshape(-1, 2).mean(axis=1)
    moments = Moments.of(off.tolist())
    return moments.mean / moments.error


@pytest.mark.slow
@pytest.mark.parametrize("players", PLAYERS[:2], ids=" ".join)
@pytest.mark.parametrize(
    "slug",
    [
        "firewall-breach",
        *(
            pytest.param(slug, marks=pytest.mark.long)
            for slug in ("cipher-siege", "number-clash", "digit-duel")
        ),
    ],
)  # fmt: skip
def test_over_many_games_the_means_agree(slug: str, players: tuple[str, str]) -> None:
    game = load(slug)
    met = watched(game, players, 2000)
    assert abs(gap(players, met, adjusted(game, players, met, LIMIT))) < 4.5


def test_games_that_the_limit_ends_are_adjusted_too() -> None:
    game, players = load("firewall-breach"), ("random", "perfect")
    met = watched(game, players, 4000, limit=6)
    assert (met.choices == 6).mean() > 0.5
    assert abs(gap(players, met, adjusted(game, players, met, 6))) < 4.5


def test_distinct_rows_are_found_however_wide() -> None:
    narrow = np.array([[1, 2], [1, 3], [1, 2], [-5, 2]], np.int32)
    wide = np.array([[1 << 40, -(1 << 40), 7]] * 3 + [[0, 1, 1 << 41]], np.int64)
    for rows in (narrow, wide):
        first, back = distinct(rows)
        assert (rows[first][back] == rows).all()
        assert len(first) == len(np.unique(rows, axis=0))


def test_what_is_not_known_is_not_made_up() -> None:
    game = load("cipher-siege", integrity=10)
    met = watched(game, ("random", "greedy"), 2)
    assert adjusted(game, ("random", "greedy"), met, LIMIT) is None


@pytest.mark.slow
@pytest.mark.parametrize(("game", "players"), CASES[:12])
def test_the_mean_is_the_exact_score_of_two_mixes(game: AnyGame, players: tuple[str, str]) -> None:
    """A second way to the truth: what `duels.measure` computes without playing."""
    exact = (head_to_head(game, *players) + 1 - head_to_head(game, *players[::-1])) / 2
    met = watched(game, players, 4000)
    found = adjusted(game, players, met, LIMIT)
    assert found is not None
    seat = np.arange(len(found.score)) % 2
    scores = np.where(seat == 0, found.score, 1 - found.score).reshape(-1, 2).mean(axis=1)
    moments = Moments.of(scores.tolist())
    assert abs(moments.mean - exact) < 4.5 * moments.error + 1e-9
