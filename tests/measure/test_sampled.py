"""Bots measured: exactly where they say their mix, else from below, with an interval that holds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from duels.algorithms.estimate import CONFIDENCE, error_of
from duels.algorithms.solution import Unsolved
from duels.core.errors import Misbehaved
from duels.core.game import Move
from duels.core.player import Player, View
from duels.games import load
from duels.measure import exploitability
from duels.measure.policies import NoMixedStrategy
from duels.measure.sampled import sampled_exploitability
from duels.players.external import External, ProcessLimits
from tests.players.zoo import command
from tests.plugins.kuhn_poker import KuhnPoker

ROOT = Path(__file__).parents[2]
PATIENT = ProcessLimits(seconds=60.0, start=60.0)
SMALL = load("firewall-breach", strength=3)


class Silent(Player):
    """Draws from a mix that it does not say, unless it is asked in another class."""

    def __init__(self, attack: float) -> None:
        self.attack = attack

    def choose(self, view: View) -> Move:
        luck = Random(f"{self.stream} {view.version} {view.observation}")
        return view.options[0] if luck.random() < self.attack else view.options[-1]


class Open(Silent):
    def mixed_strategy(self, view: View) -> Mapping[Move, float]:
        return {view.options[0]: self.attack, view.options[-1]: 1 - self.attack}


def test_a_program_that_says_its_mix_is_measured_exactly() -> None:
    bot = External(command("mixes"), limits=PATIENT)
    found, wanted = exploitability(SMALL, bot), exploitability(SMALL, "random")
    bot.close()
    assert found.kind == "exact"
    assert found.exploitability == pytest.approx(wanted.exploitability, abs=1e-12)


def test_a_player_without_a_mixed_strategy_is_refused_there() -> None:
    bot = External(command("plays"), limits=PATIENT)
    with pytest.raises(NoMixedStrategy):
        exploitability(SMALL, bot)
    bot.close()


@pytest.mark.slow
def test_the_sampled_figure_is_a_lower_bound_of_the_exact_one_and_near_it() -> None:
    """Of 24 intervals, one-sided and two-sided together, hardly any may miss: the bound is unbiased
    for its responder, whose value is never above the best response's."""
    above = near = 0
    runs = 12
    for seed in range(runs):
        attack = (0.1, 0.5, 0.9)[seed % 3]
        exact = exploitability(SMALL, Open(attack)).exploitability
        found = sampled_exploitability(SMALL, Silent(attack), games=300, seed=seed)
        assert found.kind == "sampled lower bound"
        for known, bound in zip(exact, found.exploitability, strict=True):
            error = CONFIDENCE * (error_of(bound) or 0.0)
            assert 0 < error < 0.08
            above += bound - error > known
            near += bound + error > known - 0.01
    assert above <= 3  # 0.6 expected, were it exact
    assert near >= 2 * runs - 4


@pytest.mark.slow
def test_the_luck_of_the_sample_is_not_counted() -> None:
    """Of a player that cannot be exploited, one pick at each position looks very exploitable; in
    fresh games nothing is gained. That is the fault which fresh games are there to avoid."""
    game = load("number-clash", numbers=3, points=1)
    from duels.core.chance import stream
    from duels.measure.dispatch import enumerate_positions
    from duels.measure.policies import QueriedPolicy
    from duels.measure.sampled import SampledPlayer
    from duels.players.optimal import Perfect

    class Quiet(Perfect):
        mixed_strategy = Player.mixed_strategy  # type: ignore[assignment]

        def choose(self, view: View) -> Move:
            mix = Perfect("").mixed_strategy(view)
            luck = Random(f"{self.stream} {view.version} {view.observation}")
            return luck.choices(list(mix), list(mix.values()))[0]

    quiet = Quiet(stream(1, 0))
    sample = SampledPlayer(quiet, 1, {}, lambda part, what: None)
    claimed = float(enumerate_positions(game, 0, QueriedPolicy(game, sample)).values()[0])
    exact = exploitability(game, "perfect")
    assert claimed - (1 - exact.value_vs_best_response[0]) > 0.2
    found = sampled_exploitability(game, quiet, games=400)
    for bound in found.exploitability:
        assert bound - 1.5 * CONFIDENCE * (error_of(bound) or 0.0) <= 0.0


def test_hidden_hands_are_sampled_in_small_variants() -> None:
    small = load("cipher-siege", values=1, copies=2, hand=1, limit=1)
    exact = exploitability(small, Open(0.5), turn_limit=3)
    found = sampled_exploitability(small, Silent(0.5), games=200, turn_limit=3)
    for known, bound in zip(exact.exploitability, found.exploitability, strict=True):
        assert bound - 2 * CONFIDENCE * (error_of(bound) or 0.0) <= known


def test_fewer_picks_where_positions_are_many_and_a_refusal_where_they_are_too_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = load("number-clash", numbers=4)
    monkeypatch.setattr("duels.measure.sampled.MOST", 40)
    note = sampled_exploitability(game, Silent(0.5), games=5).note
    assert " 16 times" not in note
    assert " 4 times at each of" in note or " 1 times at each of" in note
    monkeypatch.setattr("duels.measure.sampled.MOST", 5)
    with pytest.raises(Unsolved, match="more than 5 positions of number-clash can be reached"):
        sampled_exploitability(game, Silent(0.5), games=5)


def test_a_player_that_fails_is_told_so() -> None:
    bot = External(command("unlisted"), limits=PATIENT)
    with pytest.raises(Misbehaved, match="'surrender' is not an option"):
        sampled_exploitability(SMALL, bot, games=5)
    bot.close()


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "duels", "exploit", "fire", *words, "--set", "strength=3"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_command_says_which_of_the_two_it_is() -> None:
    exact = json.loads(run(command("mixes"), "--json").stdout)
    assert exact["kind"] == "exact"
    assert "note" not in exact
    done = run(command("plays"), "--json", "-n", "50")
    found = json.loads(done.stdout)
    assert found["kind"] == "sampled lower bound"
    assert set(found["interval"]) == {"1", "2"}
    assert "50 fresh games" in found["note"]
    text = run(command("plays"), "-n", "50").stdout
    assert "at least" in text
    assert "It does not state its mixed strategy" in text


def test_the_command_says_in_one_line_that_a_bot_failed() -> None:
    done = run(command("crashes"))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "failed: its program ended with exit status 1 (ZeroDivisionError" in done.stderr
    assert run("human").returncode == 2


def test_a_program_that_is_sampled_gets_streams_that_it_cannot_know(tmp_path: Path) -> None:
    """Those of two measurements have nothing in common."""
    told = []
    for number in range(2):
        bot, marks = tmp_path / "bot.py", tmp_path / f"marks{number}"
        bot.write_text(
            "import json, sys\n"
            "for line in sys.stdin:\n"
            "    asked = json.loads(line)\n"
            "    answer = {'type': 'ready'}\n"
            "    if asked['type'] == 'choose':\n"
            f"        open({str(marks)!r}, 'a').write(asked['seed'] + '\\n')\n"
            "        answer = {'type': 'move', 'move': asked['view']['options'][0]}\n"
            "    if asked['type'] != 'over':\n"
            "        print(json.dumps(answer), flush=True)\n"
        )
        done = run(f"{sys.executable} {bot}", "-n", "20")
        assert done.returncode == 0, done.stderr
        told.append({line.rpartition(" ")[0] for line in marks.read_text().splitlines()})
    assert len(told[0]) > 40
    assert not told[0] & told[1]


class AlwaysPasses(Player):
    """Chooses the first option, which is a pass in Kuhn poker."""

    def choose(self, view: View) -> Move:
        return view.options[0]


def test_payoffs_are_sampled_where_wins_pay_differently() -> None:
    """A bet makes it give up: it loses 1 in every game to a response that bets."""
    found = sampled_exploitability(KuhnPoker(), AlwaysPasses(), games=60)
    assert found.value_vs_best_response == (-1.0, -1.0)
    assert found.seats[0].optimal == -found.seats[1].optimal
    assert abs(found.seats[0].optimal) < 0.5  # the higher card wins 1
