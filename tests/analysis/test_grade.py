"""Grading: perfect play is never wrong, luck and skill add up, a verdict is one number's name."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from duels.algorithms import solve
from duels.algorithms.estimate import Estimate
from duels.analysis.grade import Analysis, grade
from duels.core.chance import stream
from duels.core.clock import TimeControl
from duels.core.game import AnyGame, Chance, Decide, Outcome, Over, Pick
from duels.core.match import Match
from duels.core.player import answer
from duels.games import BUILT_IN, load
from duels.players import make_opponent
from tests.core.test_courses import course, step

EXACT = ("firewall-breach", "number-clash", "digit-duel", "number-wars")


def play(slug: str, players: tuple[str, str], seed: int, **options: object) -> Match:
    match = Match(load(slug, **options), seed, players=players)
    seats = [make_opponent(name, stream(seed, player)) for player, name in enumerate(players)]
    while match.result is None:
        for player in match.deciders:
            match.submit(player, answer(seats[player], match.view(player)))
    return match


@pytest.mark.slow
@pytest.mark.parametrize("slug", BUILT_IN)
def test_a_perfect_players_record_shows_no_regret(slug: str) -> None:
    for seed in range(6):
        seat = seed % 2
        players = ("perfect", "random") if seat == 0 else ("random", "perfect")
        analysis = grade(play(slug, players, seed))
        assert analysis.of(seat)
        assert all(move.regret == 0 and move.verdict == "best" for move in analysis.of(seat))
        assert analysis.ungraded(0) == analysis.ungraded(1) == 0
        assert analysis.accuracy(seat) in (100, None)


def left_over(analysis: Analysis) -> float:
    """Luck the other way: what neither player's moves explain."""
    final, regrets = analysis.final, (analysis.regret(0), analysis.regret(1))
    assert final is not None
    assert regrets[0] is not None
    assert regrets[1] is not None
    return float(final - analysis.start + regrets[0] - regrets[1])


@pytest.mark.parametrize("slug", EXACT)
def test_luck_from_chance_events_is_what_the_moves_leave_unexplained(slug: str) -> None:
    for seed in range(6):
        match = play(slug, ("greedy", "random"), seed)
        analysis = grade(match)
        luck = analysis.luck(0)
        assert luck is not None
        assert luck == -analysis.luck(1)  # type: ignore[operator]
        assert float(luck) == pytest.approx(left_over(analysis), abs=1e-9)
        assert analysis.hidden == pytest.approx(0, abs=1e-12)
        assert match.result is not None
        assert analysis.final == (0.5 if match.result.winner is None else 1 - match.result.winner)
        if slug in ("digit-duel", "number-wars"):
            assert luck == 0, "there is no luck in this game"
        else:
            assert luck != 0


def test_the_luck_of_a_die_is_its_outcome_less_the_expectation() -> None:
    match = Match(load("firewall-breach"))
    match.enact(Pick(((0, "attack"),)))
    expected = solve(match.game).value(match.state)
    match.enact(Outcome("6"))
    assert grade(match).luck(0) == solve(match.game).value(match.state) - expected
    assert grade(match).regret(0) == 0


def test_the_luck_of_a_sealed_pair_is_how_the_two_picks_met() -> None:
    """Seven against eight: both may be right to choose as they did, and one is lucky."""
    match = Match(load("number-clash"))
    match.enact(Pick(((0, "7"), (1, "8"))))
    analysis = grade(match)
    assert analysis.luck(0) == pytest.approx(0.877595 - 0.5, abs=1e-6)
    assert analysis.luck(1) == pytest.approx(0.5 - 0.877595, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [3, pytest.param(12, marks=pytest.mark.long)])
def test_luck_in_cipher_siege_is_that_of_the_draws_and_never_of_the_moves(seeds: int) -> None:
    for seed in range(seeds):
        match = play("cipher-siege", ("perfect", "hard"), seed)
        analysis = grade(match)
        values = [solve(match.game).value_at(match, number) for number in match.line]
        values.append(solve(match.game).value_at(match))
        drawn = [
            float(after) - float(before)  # type: ignore[arg-type]
            for number, (before, after) in zip(match.line, pairwise(values), strict=True)
            if isinstance(match.events[number], Outcome)
        ]
        assert analysis.luck(0) == pytest.approx(sum(drawn))
        assert analysis.hidden is not None
        moved = left_over(analysis)
        assert float(analysis.luck(0) or 0) + float(analysis.hidden) == pytest.approx(moved)


def test_a_blunder_is_named_with_the_better_move() -> None:
    match = Match(load("number-wars", lp=19), seed=1)
    for player, move in [(0, "1"), (1, "10"), (0, "10"), (1, "9")]:
        match.submit(player, move)
    first = grade(match).moves[0]
    assert (first.move, first.verdict, first.regret) == ("1", "blunder", 1)
    assert first.best in ("9", "10")


def test_only_what_was_not_taken_back_is_graded() -> None:
    match = Match(load("number-wars", lp=20), seed=1)
    match.submit(0, "1")
    match.submit(1, "10")
    match.undo(0)
    match.submit(0, "10")
    analysis = grade(match)
    assert [(move.entry, move.move) for move in analysis.moves] == [(4, "10")]
    assert analysis.taken_back == 2


def test_a_lost_turn_is_graded_and_a_resignation_is_not_luck() -> None:
    match = Match(load("number-wars", lp=20), seed=1, time_limit=30)
    match.time_out(0)
    match.resign(1)
    analysis = grade(match)
    assert [(move.move, move.regret) for move in analysis.moves] == [("timeout", 1)]
    assert analysis.luck(0) == 0


def test_a_game_lost_on_time_is_no_lost_turn() -> None:
    match = Match(load("number-wars", lp=20), seed=1, time_control=TimeControl(budget=30))
    match.clock = lambda: match.begun + 40 if match.begun else None
    match.submit(0, "10")
    assert match.result is not None
    assert match.result.by == "time"
    analysis = grade(match)
    assert analysis.moves == ()
    assert analysis.final == analysis.start
    assert analysis.hidden == analysis.luck(0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("slug", EXACT)
@pytest.mark.parametrize("first", [0, 1])
def test_luck_and_regret_add_up_whatever_happens_in_a_match(slug: str, first: int) -> None:
    """Undone moves, lost turns, pauses, resignations and forfeits included."""
    for seed in range(25):
        match, clock, randomness = course(load(slug, first=first), seed)
        for _ in range(randomness.randrange(80)):
            clock.tick()
            step(match, randomness)
        analysis = grade(match)
        parts = analysis.start, analysis.luck(0), analysis.regret(1), analysis.regret(0)
        start, luck, theirs, own = (float(part) for part in parts if part is not None)
        assert analysis.final is not None
        assert start + luck + theirs - own == pytest.approx(float(analysis.final), abs=1e-9)


# Attacks of one card at a time lead to where no good player ever goes.
UNKNOWN = [*"1111222", "attack 1", "2", "attack 1", "3", "attack 1", "3", "attack 1", "3"]


def siege(after: list[str]) -> Match:
    """A match of Cipher Siege from its outcomes and moves in order."""
    match = Match(load("cipher-siege"))
    for word in after:
        if word.isdigit():
            match.enact(Outcome(word))
        else:
            match.enact(Pick(((match.deciders[0], word),)))
    return match


@pytest.mark.slow
def test_a_resigned_siege_ends_with_what_the_last_position_was_worth() -> None:
    """Luck that cancels the player's own mistake was no luck."""
    match = siege([*"2132531", "attack 1", "4"])
    before = grade(match)
    choice = solve(match.game).measured(match.view(1))
    match.resign(1)
    analysis = grade(match)
    assert analysis.final == before.final == choice.value
    assert analysis.final != analysis.start
    assert analysis.luck(0) == before.luck(0)
    mistake = analysis.regret(0)
    assert mistake is not None
    assert mistake > 0.02
    assert analysis.luck(0) != pytest.approx(float(mistake))


@pytest.mark.slow
def test_a_win_passed_by_is_graded_at_its_price() -> None:
    """With three high cards left against ones it is no half; giving away a five costs more."""
    found = {}
    for passed in ("attack 4 5 5", "attack 1", "defend 4"):
        (move,) = grade(siege([*"5151411", passed])).moves
        assert (move.before, move.verdict, move.best) == (1, "blunder", "attack 1 4 5 5")
        assert isinstance(move.regret, Estimate)
        assert move.regret.error < 0.02
        assert move.regret == 1 - float(move.after or 0)
        assert move.random_regret is not None
        found[passed] = float(move.regret)
    assert 0.1 < found["attack 4 5 5"] < found["attack 1"] < found["defend 4"] < 0.75


@pytest.mark.slow
def test_what_the_strategy_does_not_know_is_measured() -> None:
    analysis = grade(siege([*UNKNOWN, "attack 2"]))
    last = analysis.moves[-1]
    assert solve(analysis.match.game).assess(analysis.match.view_before(last.entry - 1, 0)).rough
    assert isinstance(last.regret, Estimate)
    assert 0 < last.regret.error < 0.03
    assert last.best not in (None, "attack 2")
    assert analysis.ungraded(0) == analysis.ungraded(1) == 0
    assert isinstance(analysis.luck(0), Estimate)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [[7], pytest.param([0, 1, 7], marks=pytest.mark.long)])
def test_a_better_move_is_worth_more(seeds: list[int]) -> None:
    """An approximate mix may be worth less than what was played; then it is not recommended."""
    for seed in seeds:
        analysis = grade(play("cipher-siege", ("greedy", "random"), seed))
        for move in analysis.moves:
            if move.regret:
                view = analysis.match.view_before(move.entry - 1, move.player)
                choice = solve(analysis.match.game).measured(view, move.move)
                assert move.best is not None
                better, worth = choice.worth(move.best), choice.worth(move.move)
                assert float(better or 0) > float(worth or 0)


# Accuracy: 100 for perfect play, 0 for the worst move at every choice.


def brute_force(game: AnyGame) -> dict[Any, float]:
    """Player 1's value of every state by value iteration over the rules; no solution is used."""
    values: dict[Any, float] = {}
    found = [game.start()]
    while found:
        state = found.pop()
        if state not in values:
            turn = game.turn(state)
            values[state] = 0.5
            if isinstance(turn, Over):
                values[state] = 0.5 if turn.winner is None else 1.0 - turn.winner
            elif isinstance(turn, Chance):
                found += [game.play(state, outcome) for outcome in turn.odds]
            else:
                ((_, options),) = turn.options.items()
                found += [game.play(state, move) for move in options]
    for _ in range(200):
        for state in values:
            turn = game.turn(state)
            if isinstance(turn, Chance):
                odds = turn.odds.items()
                values[state] = sum(float(p) * values[game.play(state, o)] for o, p in odds)
            elif isinstance(turn, Decide):
                ((player, options),) = turn.options.items()
                best = max if player == 0 else min
                values[state] = best(values[game.play(state, move)] for move in options)
    return values


@pytest.mark.parametrize(
    ("slug", "options"),
    [
        ("firewall-breach", {"strength": 5}),
        ("digit-duel", {"digits": 4, "life": 3}),
        ("number-wars", {"numbers": 3, "lp": (8, 7)}),
    ],
)
def test_accuracy_is_the_part_of_the_stakes_that_was_kept(
    slug: str, options: dict[str, object]
) -> None:
    values = brute_force(load(slug, **options))
    reached: set[float] = set()
    for seed in range(12):
        match = play(slug, ("random", "random"), seed, **options)
        lost, staked = [0.0, 0.0], [0.0, 0.0]
        for number, event in enumerate(match.events):
            if isinstance(event, Pick):
                ((player, played),) = event.moves
                state = match.state_before(number)
                turn = match.game.turn(state)
                assert isinstance(turn, Decide)
                worth = {m: values[match.game.play(state, m)] for m in turn.options[player]}
                if player == 1:
                    worth = {move: 1 - value for move, value in worth.items()}
                lost[player] += max(worth.values()) - worth[played]
                staked[player] += max(worth.values()) - min(worth.values())
        analysis = grade(match)
        for player in (0, 1):
            found = analysis.accuracy(player)
            if staked[player] < 1e-6:
                assert found is None
            else:
                assert found is not None
                assert found == pytest.approx(100 * (1 - lost[player] / staked[player]), abs=1e-4)
                assert 0 <= found <= 100
                reached.add(round(found))
    assert len(reached) > 2, "these matches had hardly any mistakes"


def test_accuracy_by_hand() -> None:
    """Player 1 guards 1 against 2. An attack wins half of the time, as a miss loses at once; after
    a bypass Player 2 wins with a bypass, so that 0.5 was at stake. Player 2, at 1, had a sure
    bypass or an attack that gives away the half of the time in which it fails."""
    match = Match(load("firewall-breach", strength=(1, 2)))
    match.enact(Pick(((0, "bypass"),)))
    match.enact(Pick(((1, "attack"),)))
    match.enact(Outcome("1"))
    match.enact(Pick(((0, "bypass"),)))
    analysis = grade(match)
    # Player 1 lost 0.5 of 0.5, then 0 of 0.5: the bypass won, an attack would have half the time.
    assert [(move.player, move.regret, move.stake) for move in analysis.moves] == [
        (0, 0.5, 0.5), (1, 0.5, 0.5), (0, 0, 0.5)
    ]  # fmt: skip
    assert analysis.accuracy(0) == 50
    assert analysis.accuracy(1) == 0


def test_a_lost_turn_is_the_worst_option() -> None:
    match = Match(load("number-wars", lp=20), seed=1, time_limit=30)
    match.time_out(0)
    assert grade(match).accuracy(0) == 0


def test_a_game_won_throughout_is_told_from_one_that_was_lost() -> None:
    match = Match(load("number-wars", lp=(20, 11)), seed=1)
    for player, move in [(0, "10"), (1, "10"), (0, "1")]:
        match.submit(player, move)
    analysis = grade(match)
    assert [move.stake for move in analysis.moves] == [0, 0, 0]
    assert (analysis.accuracy(0), analysis.accuracy(1)) == (None, None)
    assert analysis.won_throughout(0)
    assert not analysis.won_throughout(1)
    match = Match(load("number-wars", lp=1), seed=1)
    match.submit(0, "1")
    assert grade(match).won_throughout(0)
    assert not grade(match).won_throughout(1), "without a move"


def pooled(slug: str, players: tuple[str, str], games: int) -> tuple[float, list[float]]:
    """Over many matches, Player 1's share of a random mover's regret, and each accuracy."""
    own = chance = 0.0
    each = []
    for seed in range(games):
        analysis = grade(play(slug, players, seed, first=seed % 2))
        for move in analysis.of(0):
            if move.regret is not None and move.random_regret:
                own += float(move.regret)
                chance += float(move.random_regret)
        found = analysis.accuracy(0)
        each += [] if found is None else [found]
    return own / chance, each


@pytest.mark.slow
@pytest.mark.parametrize(
    "slug",
    ["firewall-breach", "number-clash", pytest.param("cipher-siege", marks=pytest.mark.long)],
)
def test_perfect_play_is_a_hundred_and_random_play_is_not(slug: str) -> None:
    share, each = pooled(slug, ("random", "random"), 16 if slug == "cipher-siege" else 60)
    assert share == pytest.approx(1, abs=0.2)
    assert 10 < sum(each) / len(each) < 80
    assert min(each) >= 0
    assert max(each) <= 100
    share, each = pooled(slug, ("perfect", "random"), 10)
    assert share == 0
    assert set(each) == {100}


@pytest.mark.slow
def test_levels_lie_between_random_and_perfect_by_their_share() -> None:
    shares = [pooled("number-clash", (level, "perfect"), 100)[0] for level in ("easy", "hard")]
    assert shares[0] == pytest.approx(0.5, abs=0.2)
    assert shares[1] == pytest.approx(0.02, abs=0.02)


def test_choices_between_equal_moves_do_not_count() -> None:
    match = Match(load("number-wars", lp=1), seed=1)
    match.submit(0, "1")
    assert grade(match).accuracy(0) is None
    assert grade(match).accuracy(1) is None
