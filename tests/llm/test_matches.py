"""Matches: openings, scores without luck, forfeits, kills."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from duels.algorithms import solve
from duels.core.game import AnyGame, Chance, Over
from duels.core.payoffs import unit_of
from duels.core.wire import dump_view, load_view
from duels.envs.policy import view_of
from duels.games import load
from duels.llm.answers import Answer
from duels.llm.bench import MATCHES, Plan, Run, Wanted, run_plan
from duels.llm.dialogue import MIX, MOVE, Dialogue, Question, Reply
from duels.llm.endpoint import BuiltInPlayer
from duels.llm.items import Item
from duels.llm.matches import Played, asking, openings, play_pairs
from duels.measure import head_to_head
from duels.players import make_opponent
from tests.llm.models import Erring, playing, views_of

BREACH, SIEGE = load("firewall-breach"), load("cipher-siege")
SMALL = [
    load("firewall-breach", strength=3), load("number-clash", numbers=3, points=2),
    load("digit-duel", digits=3, life="2/3"), load("number-wars", numbers=2, lp=5),
    load("digit-duel", digits=3, life=2, hidden=True),
]  # fmt: skip


def expected_regret(game: AnyGame, name: str, seat: int) -> float:
    """The expected sum of a player's regrets against perfect play, by following every line."""
    player, solution = make_opponent(name, ""), solve(game)
    known: dict[Any, float] = {}

    def follow(state: Any, events: int = 120) -> float:
        """With so many events left, after which misses have gone on for long enough."""
        if (state, events) in known:
            return known[state, events]
        turn, total = game.turn(state), 0.0
        if isinstance(turn, Over) or not events:
            return 0.0
        left = events - 1
        if isinstance(turn, Chance):
            total = sum(float(p) * follow(game.play(state, o), left) for o, p in turn.odds.items())
        else:
            mixes = []
            for decider in sorted(turn.options):
                view, choice = view_of(game, state, decider), solution.assess_state(state, decider)
                mix = choice.mixed_strategy
                if decider == seat:
                    mix = player.mixed_strategy(view) or {}
                    total += Item(view, choice).regret(mix)
                mixes.append([(m, p) for m, p in mix.items() if p])
            for one, p in mixes[0]:
                for two, q in mixes[1] if len(mixes) > 1 else [("", 1.0)]:
                    picks = (one, two) if len(mixes) > 1 else (one,)
                    total += float(p) * float(q) * follow(game.play(state, *picks), left)
        known[state, events] = total
        return total

    return follow(game.start())


@pytest.mark.parametrize("game", SMALL, ids=repr)
@pytest.mark.parametrize("seat", [0, 1])
def test_start_value_less_regrets_is_the_expected_score(game: AnyGame, seat: int) -> None:
    for name in ("random", "greedy", "easy"):
        names = (name, "perfect") if seat == 0 else ("perfect", name)
        one = head_to_head(game, *names)
        score = one if seat == 0 else unit_of(game).total - one
        start = float(solve(game).start_value())
        value = start if seat == 0 else 1 - start
        assert value - expected_regret(game, name, seat) == pytest.approx(score, abs=1e-7)


def played(
    game: AnyGame, name: str, n: int, opponent: str = "perfect", answer: str = MOVE
) -> list[tuple[Played, Played]]:
    question = Question(answer)
    run = Run(BuiltInPlayer(name, question))
    return play_pairs(game, n, 1, opponent, asking(run, question), run)


@pytest.mark.parametrize("opponent", ["perfect", "easy"])
def test_the_score_without_luck_has_the_mean_of_the_score_and_less_noise(opponent: str) -> None:
    pairs = played(load("firewall-breach", strength=5), "random", 40, opponent, MIX)
    games = [game for pair in pairs for game in pair]
    gaps = [game.score - (game.adjusted or 0.0) for game in games]
    mean = sum(gaps) / len(gaps)
    error = sqrt(sum((gap - mean) ** 2 for gap in gaps)) / len(gaps)
    assert abs(mean) < 4 * error

    def variance(scores: list[float]) -> float:
        middle = sum(scores) / len(scores)
        return sum((score - middle) ** 2 for score in scores)

    raw = [(one.score + two.score) / 2 for one, two in pairs]
    without = [((one.adjusted or 0) + (two.adjusted or 0)) / 2 for one, two in pairs]
    assert variance(without) < variance(raw) / 2


def test_perfect_play_scores_one_half_without_luck() -> None:
    for one, two in played(BREACH, "perfect", 4):
        assert (one.adjusted or 0) + (two.adjusted or 0) == pytest.approx(1)


@pytest.mark.parametrize("game", [BREACH, SIEGE, load("number-clash")], ids=lambda g: g.slug)
def test_both_matches_of_a_pair_begin_in_the_same_position(game: AnyGame) -> None:
    chosen = openings(game, 12, 1)
    assert chosen == openings(game, 12, 1) != openings(game, 12, 2)
    assert len({*chosen}) == 12
    for (one, two), opening in zip(played(game, "random", 3), chosen, strict=False):
        begun = [
            next(
                (match.match.state_before(n), n)
                for n, entry in enumerate([*match.match.events, None])
                if picks_before(match.match, n) == len(opening)
            )
            for match in (one, two)
        ]
        assert begun[0] == begun[1]


def picks_before(match: Any, number: int) -> int:
    return sum(type(entry).__name__ == "Pick" for entry in match.events[:number])


class Says:
    """A model with one answer."""

    def __init__(self, text: str) -> None:
        self.name, self.text = "says", text
        self.parameters: Mapping[str, Any] = {}

    async def ask(self, messages: Any, sample: int, view: Any) -> Answer:
        return Answer(Reply(self.text))

    async def close(self) -> None:
        pass


def test_a_choice_without_an_answer_forfeits_the_match_and_all_that_it_was_worth() -> None:
    plan = Plan(Wanted(MATCHES, n=3), [load("digit-duel")])  # without luck, so exactly 0
    found = run_plan(plan, Run(Says("I would rather not.")))
    assert found["score"]["mean"] == 0
    assert found["adjusted"]["mean"] == pytest.approx(0)
    assert found["lost_by_forfeit"] == 6
    assert found["faults"] | {"unreadable": 12, "forfeits": 6} == found["faults"]


def test_prompts_of_matches_depend_only_on_what_the_player_may_know() -> None:
    """They are equal if they are made from the view as a client receives it."""
    plan = Plan(Wanted(MATCHES, n=4, opponent="random"), [SIEGE])
    said = run_plan(plan, Run(BuiltInPlayer("random", Question())))["transcripts"]
    found = [
        answer.dialogue.view
        for pair in played(SIEGE, "random", 4, "random")
        for game in pair
        for answer in game.answers
        if answer.dialogue is not None
    ]
    assert len(found) > 12
    prompts = [Dialogue(load_view(json.loads(json.dumps(dump_view(v))), load)).messages[0]
               for v in found]  # fmt: skip
    assert sorted(p["content"] for p in prompts) == sorted(
        each["messages"][0]["content"] for each in said
    )
    assert any("?" in prompt["content"] for prompt in prompts)


@pytest.mark.extra("llm")
@pytest.mark.slow
@pytest.mark.parametrize("pairs", [3, pytest.param(100, marks=pytest.mark.long)])
def test_killed_matches_continue_and_give_the_same_files(tmp_path: Path, pairs: int) -> None:
    from tests.llm.server import serving

    game = load("firewall-breach", strength=5)
    model = playing(views_of(game), Erring(0.5), 1)
    going: list[subprocess.Popen[bytes]] = []
    calls = [0, 0]

    def command(url: str, folder: str) -> list[str]:
        return [
            sys.executable, "-m", "duels", "bench", "--model", "fake", "--base-url", url,
            "--games", "firewall-breach", "--set", "strength=5", "--mode", "matches",
            "-n", str(pairs), "--concurrency", "2", "--out", str(tmp_path / folder),
        ]  # fmt: skip

    def always(prompt: str, number: int) -> str:
        return model(prompt, 0)  # what was lost on the way is answered in the same way

    with serving(always) as fake:
        subprocess.run(command(fake.url, "whole"), check=True, capture_output=True)
        calls[0] = fake.calls

    def killing(call: int) -> str:
        if call == calls[0] // 2 and going:
            going[0].send_signal(signal.SIGKILL)
        return ""

    with serving(always, killing) as fake:
        with subprocess.Popen(command(fake.url, "killed")) as process:
            going.append(process)
        assert process.returncode == -signal.SIGKILL
        going.clear()
        before = fake.calls
        subprocess.run(command(fake.url, "killed"), check=True, capture_output=True)
        assert 0 < fake.calls - before < calls[0]
    for name in ("matches.json", "matches-transcripts.jsonl", "matches-records.jsonl"):
        assert (tmp_path / "whole" / name).read_text() == (tmp_path / "killed" / name).read_text()
