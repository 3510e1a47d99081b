"""Programs and classes as opponents in the environments."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pytest

from duels.core.chance import stream
from duels.core.errors import Misbehaved, OptionError, UnknownName
from duels.core.match import Match
from duels.core.player import Player, View
from duels.games import load
from duels.players import make_player
from tests.players.zoo import command

gymnasium: Any = pytest.importorskip("gymnasium", reason="needs the extra duels[rl]")
import duels.envs.gymnasium  # noqa: E402, F401  # the environments are registered

FIRST = "tests.envs.test_external:First"
needs_numba = pytest.mark.extra("solve")


class First(Player):
    def choose(self, view: View) -> str:
        return view.options[0]


def episode(duel: Any, seed: int) -> tuple[float, dict[str, Any]]:
    """The agent takes the last legal action until the end."""
    _, info = duel.reset(seed=seed)
    while True:
        _, reward, over, limited, info = duel.step(int(info["action_mask"].nonzero()[0][-1]))
        if over or limited:
            return reward, info


@pytest.mark.parametrize("seat", [0, 1])
def test_an_episode_is_the_match_against_the_program(seat: int) -> None:
    words = command("mixes")
    duel = gymnasium.make("duels/NumberClash-v0", opponent=words, seat=seat)
    reward, info = episode(duel, seed=7)
    duel.close()
    match, bot = Match(load("number-clash"), 7), make_player(words, stream(7, 1 - seat))
    while match.result is None:
        moves = duel.unwrapped.encoding.moves
        for one in match.deciders:
            options = match.view(one).options
            last = max(options, key=moves.index)
            match.submit(one, last if one == seat else str(bot.choose(match.view(one))))
    bot.close()
    assert info["reason"] == match.result.reason
    assert reward == {seat: 1.0, 1 - seat: -1.0, None: 0.0}[match.result.winner]


def test_a_program_that_fails_forfeits_and_the_next_episode_begins() -> None:
    duel = gymnasium.make("duels/FirewallBreach-v0", opponent=command("crashes"))
    for seed in (1, 2):
        reward, info = episode(duel, seed)
        assert (reward, info["by"], info["illegal"]) == (1.0, "forfeit", False)
        assert "ZeroDivisionError" in info["reason"]
    duel.close()


def test_a_class_is_an_opponent_too() -> None:
    duel = gymnasium.make("duels/DigitDuel-v0", opponent=FIRST)
    assert episode(duel, 1)[1]["by"] == "rules"
    duel.close()


def test_what_is_no_opponent_is_told_so() -> None:
    for wrong in ("./nothing-here", "human", "nobody"):
        with pytest.raises(UnknownName):
            gymnasium.make("duels/DigitDuel-v0", opponent=wrong)


@needs_numba
@pytest.mark.slow
@pytest.mark.parametrize("slug", ["number-clash", "cipher-siege"])
def test_programs_and_classes_play_in_a_batch_alike(slug: str) -> None:
    from duels.envs.vector import Versus

    shown = []
    for opponent in (command("plays"), FIRST):
        games = Versus(load(slug), 4, seed=3, opponent=opponent, seat="alternate")
        for _ in range(12):
            games.step(games.mask.argmax(axis=1))
        again = pickle.loads(pickle.dumps(games))  # a program is started anew
        again.step(again.mask.argmax(axis=1))
        shown.append(again.observation.tolist())
        games.close()
        again.close()
    assert shown[0] == shown[1]


@needs_numba
@pytest.mark.slow
@pytest.mark.parametrize("slug", ["number-clash", "firewall-breach"])
def test_in_a_batch_a_failure_is_raised_and_changes_nothing(slug: str) -> None:
    from duels.envs.vector import Versus

    games = Versus(load(slug), 3, seed=3, opponent=command("unlisted"))
    before = games.observation.tolist()
    with pytest.raises(Misbehaved, match=re.escape("'surrender' is not an option")):
        games.step(games.mask.argmax(axis=1))
    assert games.observation.tolist() == before
    games.close()


@needs_numba
def test_in_a_batch_too_what_is_no_opponent_is_told_so() -> None:
    from duels.envs.vector import Versus

    for wrong in ("human", "nobody"):
        with pytest.raises(OptionError):
            Versus(load("firewall-breach"), 2, opponent=wrong)
