"""The built-in opponents: legal everywhere, reproducible, and as strong as they say."""

from __future__ import annotations

import pytest

from duels.analysis.position import match_after
from duels.core.chance import stream
from duels.core.errors import UnknownName
from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.payoffs import payoffs
from duels.core.record import dumps, loads
from duels.games import BUILT_IN as GAMES
from duels.games import load
from duels.players import BUILT_IN, full_name, make_opponent
from duels.players.base import Opponent
from duels.players.ismcts import Ismcts
from tests.plugins.goofspiel import Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import VARIANTS, name


def play(game: AnyGame, players: tuple[str, str], seed: int, stop_at: int = 10**6) -> Match:
    match = Match(game, seed, players=players)
    finish(match, stop_at)
    return match


def finish(match: Match, stop_at: int = 10**6) -> None:
    seats = [
        make_opponent(name, stream(match.seed or 0, player))
        for player, name in enumerate(match.players)
    ]
    while match.result is None and len(match.events) < stop_at:
        for player in match.deciders:
            match.submit(player, seats[player].choose(match.view(player)))


@pytest.mark.parametrize("opponent", ["random", "greedy"])
@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_opponents_play_every_variant(game: AnyGame, opponent: str) -> None:
    assert play(game, (opponent, "random"), seed=3).result is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "opponent"),
    [
        # Of the search, test_a_search_needs_only_the_rules has every game, on a small budget.
        pytest.param(
            slug,
            opponent,
            marks=pytest.mark.long if (opponent == "ismcts" and slug != "firewall-breach") else (),
        )
        for slug in GAMES
        for opponent in BUILT_IN
    ],
)
def test_opponents_play_every_game(slug: str, opponent: str) -> None:
    match = Match(load(slug), 3, players=(opponent, "random"), turn_limit=12)
    finish(match)
    assert match.result is not None


@pytest.mark.parametrize("slug", GAMES)
def test_the_same_seed_gives_the_same_match_even_after_a_resume(slug: str) -> None:
    whole = play(load(slug), ("greedy", "random"), seed=8)
    half = loads(dumps(play(load(slug), ("greedy", "random"), seed=8, stop_at=9)), load)
    finish(half)
    assert half.events == whole.events


@pytest.mark.slow
@pytest.mark.parametrize("slug", GAMES)
def test_greedy_beats_random(slug: str) -> None:
    wins = 0
    for seed in range(200):
        seat = seed % 2
        players = ("greedy", "random") if seat == 0 else ("random", "greedy")
        result = play(load(slug), players, seed).result
        assert result is not None
        wins += result.winner == seat
    assert wins > 110


def test_greedy_takes_a_certain_win() -> None:
    match = Match(load("firewall-breach", strength="10/1"), seed=1)
    assert make_opponent("greedy", stream(1, 0)).choose(match.view(0)) == "bypass"
    match = Match(load("number-wars", lp="100/5"), seed=1)
    assert int(make_opponent("greedy", stream(1, 0)).choose(match.view(0))) >= 5


def test_opponents_do_not_share_their_randomness_with_the_dice() -> None:
    """Two opponents with one seed draw from streams of their own."""
    view = Match(load("number-clash"), seed=1).view(0)
    picks = [
        [make_opponent("random", stream(seed, p)).choose(view) for seed in range(60)]
        for p in (0, 1)
    ]
    assert picks[0] != picks[1]
    assert len(set(picks[0])) == 10


def test_names_are_found_by_their_beginning() -> None:
    assert full_name("GREEDY") == full_name("gr") == "greedy"
    for wrong in ("", "perfection", "r2"):
        with pytest.raises(UnknownName, match="choose from human, easy, medium"):
            full_name(wrong)
    with pytest.raises(UnknownName, match="could be human or hard"):
        full_name("h")


def test_perfect_wins_what_is_won() -> None:
    """The player who starts wins Digit Duel and Number Wars with perfect play, always."""
    for slug in ("digit-duel", "number-wars"):
        for opponent in ("random", "greedy", "hard", "perfect"):
            for seed in range(3):
                result = play(load(slug), ("perfect", opponent), seed).result
                assert result is not None
                assert result.winner == 0


def test_levels_are_ordered() -> None:
    """Each level loses more often to perfect than the next; Digit Duel shows it clearly."""
    scores = []
    for level in ("easy", "medium", "hard"):
        results = [play(load("digit-duel"), (level, "perfect"), seed).result for seed in range(40)]
        scores.append(sum(result is not None and result.winner == 0 for result in results))
    assert scores == sorted(scores)
    assert scores[0] < scores[2]


@pytest.mark.slow
@pytest.mark.parametrize("slug", GAMES)
def test_a_search_needs_only_the_rules(slug: str) -> None:
    """It beats random from both seats of every game, on a small budget."""
    wins = games = 0
    for seed in range(16):
        seat = seed % 2
        # A race of a hundred points is too long to see its end in so few rounds.
        match = Match(load(slug, **({"lp": 25} if slug == "number-wars" else {})), seed)
        searcher = Ismcts(stream(seed, seat), iterations=60)
        other = make_opponent("random", stream(seed, 1 - seat))
        while match.result is None:
            for player in match.deciders:
                chooser: Opponent = searcher if player == seat else other
                match.submit(player, chooser.choose(match.view(player)))
        wins += match.result.winner == seat
        games += 1
    assert wins > games / 2


@pytest.mark.cases(2)
@pytest.mark.slow
@pytest.mark.parametrize("game", [KuhnPoker(), LeducPoker(), LiarsDice(faces=3), Goofspiel()])
def test_a_search_plays_games_of_other_packages(game: AnyGame) -> None:
    """It wins more than it pays against random play, with hidden cards and other payoffs, too."""
    paid = 0.0
    for seed in range(60):
        seat = seed % 2
        searcher, other = (
            Ismcts(stream(seed, seat), iterations=80),
            make_opponent("random", stream(seed, 2)),
        )
        match = Match(game, seed)
        while match.result is None:
            for player in match.deciders:
                chooser: Opponent = searcher if player == seat else other
                match.submit(player, chooser.choose(match.view(player)))
        paid += payoffs(match.result)[seat]
    assert paid > 0


@pytest.mark.parametrize(
    ("card", "answer"), [("king", "bet"), ("jack", "pass")], ids=["king", "jack"]
)
def test_a_search_believes_what_it_sees(card: str, answer: str) -> None:
    """It answers a bet by its own card: the king always wins, the jack always loses."""
    match = match_after(KuhnPoker(), ["queen", card, "bet"])
    for seed in range(10):
        assert Ismcts(stream(seed, 1), iterations=100).choose(match.view(1)) == answer
