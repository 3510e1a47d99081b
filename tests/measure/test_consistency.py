"""Policies that do not answer the same twice are refused; faults of several sizes are planted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from duels.algorithms import solve
from duels.core.game import Move
from duels.core.player import Player, View
from duels.games import load
from duels.measure import Inconsistent, best_response, exploitability, head_to_head
from duels.measure.policies import CHECKED, SAME, STEP

np = pytest.importorskip("numpy", reason="needs the extra: pip install 'duels[rl]'")

ROOT = Path(__file__).parents[2]
TINY = {"values": 2, "copies": 2, "integrity": 3, "hand": 1, "limit": 2}


def shifted(probabilities: Any, by: float) -> Any:
    """Mixes with so much moved to their first legal move, from all moves in proportion."""
    out = probabilities * (1 - by)
    out[np.arange(len(out)), (probabilities > 0).argmax(axis=1)] += by
    return out


class Noisy:
    """The uniform policy, but for `by` times a random number, where `where` says so."""

    def __init__(self, by: float, where: Callable[[Any], Any] | None = None) -> None:
        self.by, self.where, self.luck = by, where, np.random.default_rng(1)

    def __call__(self, observations: Any, masks: Any) -> Any:
        mixes = masks / masks.sum(1, keepdims=True)
        by = self.by * self.luck.random()
        if self.where is None:
            return shifted(mixes, by)
        at = self.where(observations)
        mixes[at] = shifted(mixes[at], by)
        return mixes


def measures(game: Any, policy: Any, limit: int | None = None) -> list[Callable[[], Any]]:
    return [
        lambda: exploitability(game, policy, turn_limit=limit),
        lambda: exploitability(game, ("greedy", policy), turn_limit=limit),
        lambda: best_response(game, policy, 0, turn_limit=limit),
        lambda: head_to_head(game, "greedy", policy, turn_limit=limit),
        lambda: head_to_head(game, policy, "greedy", turn_limit=limit),
    ]


@pytest.mark.parametrize("by", [0.5, 0.01, 20 * SAME])
@pytest.mark.parametrize(
    ("slug", "options", "limit"),
    [
        ("firewall-breach", {}, None),
        ("number-clash", {"numbers": 4}, None),
        ("cipher-siege", TINY, 3),
    ],
)
def test_a_policy_that_varies_is_refused(
    slug: str, options: dict[str, object], limit: int | None, by: float
) -> None:
    for measure in measures(load(slug, **options), Noisy(by), limit):
        with pytest.raises(Inconsistent, match=r"asked twice about .* evaluation mode"):
            measure()


def test_a_policy_that_varies_in_a_single_rare_position_is_refused() -> None:
    game = load("firewall-breach")
    policy = Noisy(0.1, lambda seen: np.flatnonzero((seen[:, 0] == 1) & (seen[:, 1] == 10)))
    with pytest.raises(Inconsistent, match=r"asked twice about \[1, 10"):
        exploitability(game, policy)


@pytest.mark.extra("solve")
def test_of_a_large_game_a_fault_in_one_position_of_a_hundred_is_noticed() -> None:
    game = load("number-clash", numbers=8)
    asked = 0

    def some(seen: Any) -> Any:
        nonlocal asked
        asked += len(seen)
        late = np.flatnonzero(seen.astype(np.int64) @ np.arange(1, seen.shape[1] + 1) % 100 == 7)
        return late if asked > CHECKED else late[:0]  # where only one in STEP is asked again

    with pytest.raises(Inconsistent):
        exploitability(game, Noisy(0.3, some))
    assert asked > CHECKED + 100 * STEP


def test_what_varies_by_less_than_the_tolerance_is_measured_and_off_by_as_little() -> None:
    """Rounding of a network's 32 bits must pass; so does any noise of that size."""
    game = load("firewall-breach")
    found, exact = exploitability(game, Noisy(0.5 * SAME)), exploitability(game, "random")
    assert found.exploitability == pytest.approx(exact.exploitability, abs=20 * SAME)


def test_a_policy_that_changes_while_it_is_measured_is_refused() -> None:
    """Each answer is repeated when it is asked for at once again; only later it is another one."""
    calls = 0

    def policy(observations: Any, masks: Any) -> Any:
        nonlocal calls
        calls += 1
        return shifted(masks / masks.sum(1, keepdims=True), min(0.5, 0.01 * (calls // 3)))

    with pytest.raises(Inconsistent):
        exploitability(load("firewall-breach"), policy)


def test_a_policy_whose_answers_depend_on_the_rest_of_a_batch_is_refused() -> None:
    def policy(observations: Any, masks: Any) -> Any:
        seen = observations - observations.mean(axis=0)
        return shifted(masks / masks.sum(1, keepdims=True), 0.01 + 0.01 * abs(seen[0, 0]))

    with pytest.raises(Inconsistent):
        exploitability(load("firewall-breach"), policy)


@pytest.mark.extra("torch")
@pytest.mark.parametrize("layer", ["Dropout", "BatchNorm1d"])
def test_a_network_in_training_mode_is_refused_and_in_evaluation_mode_measured(layer: str) -> None:
    torch = pytest.importorskip("torch", reason="needs the extra: pip install 'duels[torch]'")
    torch.manual_seed(1)
    made = torch.nn.Dropout(0.1) if layer == "Dropout" else torch.nn.BatchNorm1d(16)
    network = torch.nn.Sequential(
        torch.nn.Linear(3, 16), torch.nn.Tanh(), made, torch.nn.Linear(16, 2)
    )

    def policy(observations: Any, masks: Any) -> Any:
        if network.training and len(observations) == 1:  # no batch to norm
            return masks / masks.sum(1, keepdims=True)
        with torch.no_grad():
            logits = network(torch.as_tensor(observations, dtype=torch.float32))
        return logits.masked_fill(~torch.as_tensor(masks), -1e9).softmax(1).numpy()

    game = load("firewall-breach")
    with pytest.raises(Inconsistent, match="evaluation mode"):
        exploitability(game, policy)
    network.eval()
    figures = {exploitability(game, policy).exploitability for _ in range(3)}
    assert len(figures) == 1


class Wavering(Player):
    """States a mix that varies, in all positions or in those of one strength."""

    def __init__(self, by: float = 0.3, only: int | None = None) -> None:
        self.by, self.only, self.luck = by, only, Random(1)

    def mixed_strategy(self, view: View) -> Mapping[Move, float]:
        first, last = view.options[0], view.options[-1]
        if first == last:
            return {first: 1.0}
        share = 0.5
        if self.only is None or self.only in view.observation.strength:
            share += self.by * (self.luck.random() - 0.5)
        return {first: share, last: 1 - share}


class Fickle(Player):
    """Says that it always picks the same, and does not."""

    pure = True
    luck = Random(1)

    def choose(self, view: View) -> Move:
        return self.luck.choice(view.options)


@pytest.mark.parametrize("player", [Wavering(), Wavering(0.01), Wavering(0.3, only=1), Fickle()])
def test_players_whose_mix_varies_are_refused(player: Player) -> None:
    for measure in measures(load("firewall-breach"), player):
        with pytest.raises(Inconsistent, match="must always state the same mixed strategy"):
            measure()


@pytest.mark.parametrize("player", [Wavering(), Fickle()])
def test_they_are_refused_with_hidden_hands_too(player: Player) -> None:
    for measure in measures(load("cipher-siege", **TINY), player, limit=3):
        with pytest.raises(Inconsistent):
            measure()


BOT = """
import json, random, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "hello":
        print(json.dumps({"type": "ready"}), flush=True)
    elif asked["type"] == "choose":
        share, (first, last) = random.random(), asked["view"]["options"]
        mix = {first: share, last: 1 - share}
        print(json.dumps({"type": "move", "mix": mix}), flush=True)
"""


def test_a_program_whose_mix_varies_is_refused_in_one_line(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(BOT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "duels", "exploit", "fire", f"{sys.executable} {bot}", "--json"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "the policy is not consistent: asked twice about" in done.stderr


class Turncoat(Player):
    """Plays perfectly until it has been asked so often, and then what is worst."""

    def __init__(self, asks: int) -> None:
        self.left = asks

    def mixed_strategy(self, view: View) -> Mapping[Move, float]:
        self.left -= 1
        best = solve(view.game).assess(view).mixed_strategy
        worst = [move for move in view.options if move not in best] or [*best]
        return best if self.left >= 0 else {worst[0]: 1.0}


def test_a_best_response_that_does_worse_than_perfect_play_is_refused() -> None:
    """It repeats all its answers, and changes only before it is measured against perfect play."""
    game = load("firewall-breach")
    counter = Turncoat(10**9)
    exploitability(game, (counter, "greedy"))
    asks = 10**9 - counter.left  # the walk, the same again, and then the one against perfect play
    refused = 0
    for part in range(2, 8):
        try:
            exploitability(game, (Turncoat(asks * part // 8), "greedy"))
        except Inconsistent as error:
            refused += "against its best response and" in str(error)
    assert refused >= 1


def test_consistent_policies_pass_whatever_they_are() -> None:
    """None of the usual policies is refused, and being asked twice changes no figure."""
    game = load("number-clash", numbers=4)
    for name in ("random", "greedy", "easy", "medium", "hard", "perfect"):
        exploitability(game, name)
        best_response(game, name, 1)
