"""Every misbehaving bot loses, with the reason in the record, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from duels.core import record
from duels.core.errors import Misbehaved
from duels.core.match import Match
from duels.core.player import Player
from duels.games import load
from duels.players import make_player
from duels.players.external import External, ProcessLimits
from duels.players.runner import MatchRunner
from tests.players.zoo import FINE, MISBEHAVING, command, left

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

# Time is short only where running out of it is tested: nothing may fail on a slow machine.
WAITS = {
    name
    for name, why in MISBEHAVING.items()
    if why.startswith("it did not answer") or "within" in why
}
SLOW = ProcessLimits(seconds=60.0, start=60.0, memory=256)
SHORT = SLOW._replace(seconds=0.5)


def limits(name: str) -> ProcessLimits:
    if name == "hangs_at_hello":
        return SHORT._replace(start=0.5)
    return SHORT if name in WAITS else SLOW


@pytest.fixture
def token() -> Iterator[str]:
    """A word that no other process has among its own; none has it at the end."""
    word = f"zoo-{os.getpid()}-{time.monotonic_ns()}"
    yield word
    assert left(word) == []


def greedy() -> Player:
    return make_player("greedy", "theirs")


@pytest.mark.cases(18)
@pytest.mark.slow
@pytest.mark.parametrize("name", MISBEHAVING)
def test_it_loses_with_the_reason_in_the_record_and_leaves_nothing(name: str, token: str) -> None:
    bot = External(command(name, "", token), "mine", limits(name))
    match = Match(load("number-clash"), seed=5, players=(name, "greedy"))
    MatchRunner(match, {0: bot, 1: greedy()}).finish()
    assert left(token) == []  # before it is closed
    assert match.result is not None
    assert (match.result.winner, match.result.by) == (1, "forfeit")
    again = record.loads(record.dumps(match), load)
    why = record.to_json(again)["entries"][-1]["why"]
    assert re.search(MISBEHAVING[name], why), why
    assert match.result.reason == f"Player 1 forfeits: {why}."
    bot.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", FINE)
def test_those_beside_them_play(name: str, token: str) -> None:
    bot = External(command(name, token), "mine", SLOW)
    for slug in ("number-clash", "cipher-siege"):
        match = Match(load(slug), seed=5)
        MatchRunner(match, {0: bot, 1: greedy()}).finish()
        assert match.result is not None
        assert match.result.by == "rules", match.result.reason
    assert left(token)
    bot.close()


def test_a_late_answer_is_never_taken_for_the_next_question(token: str, tmp_path: Path) -> None:
    """The first match is lost on time; the second is played by another process, to its end."""
    bot = External(command("late", str(tmp_path / "late"), token), "mine", SHORT)
    first = Match(load("firewall-breach"), seed=5)
    MatchRunner(first, {0: bot, 1: greedy()}).finish()
    assert first.result is not None
    assert re.search("did not answer within 0.5 s", first.result.reason)
    bot.limits = SLOW
    second = Match(load("firewall-breach"), seed=5)
    MatchRunner(second, {0: bot, 1: greedy()}).finish()
    assert second.result is not None
    assert second.result.by == "rules"
    bot.close()


def test_two_that_fail_in_a_sealed_choice_fail_together(token: str) -> None:
    bots = [External(command(name, token), "", SLOW) for name in ("crashes", "unlisted")]
    match = Match(load("number-clash"), seed=5)
    MatchRunner(match, dict(enumerate(bots))).finish()
    assert match.result is not None
    assert (match.result.winner, match.result.by) == (None, "forfeit")
    assert "ZeroDivisionError" in match.result.reason
    assert "surrender" in match.result.reason


def test_the_clock_of_a_match_is_the_limit(token: str) -> None:
    bot = External(command("hangs", token), "", SLOW)
    match = Match(load("number-wars"), seed=5, time_limit=0.5)
    MatchRunner(match, {0: bot, 1: greedy()}).finish()
    assert match.result is not None
    assert match.result.by == "forfeit"
    # The clock starts before the bot is asked, so a little less than the limit may be left.
    assert re.search(
        r"it did not answer before its clock ran out \(0\.[1-5] s left\)", match.result.reason
    )


def test_a_limit_of_its_own_applies_with_a_clock_too(token: str) -> None:
    bot = make_player(f"{command('hangs', token)},time=0.5", "")
    match = Match(load("number-wars"), seed=5, time_limit=60)
    MatchRunner(match, {0: bot, 1: greedy()}).finish()
    assert match.result is not None
    assert match.result.reason == "Player 1 forfeits: it did not answer within 0.5 s."


@pytest.mark.slow
def test_starting_up_is_not_on_the_clock(token: str) -> None:
    bot = External(command("slow_to_start", token), "", SLOW)
    match = Match(load("firewall-breach"), seed=5, time_limit=2.5)
    with suppress(Misbehaved):
        MatchRunner(match, {0: bot, 1: greedy()}).choose()
    assert [entry for entry in match.events if type(entry).__name__ == "Pick"]
    bot.close()


def test_a_host_that_is_killed_leaves_nothing(token: str) -> None:
    script = (
        "import os, sys\n"
        "from duels.players.external import External, ProcessLimits\n"
        "from duels.core.match import Match\n"
        "from duels.games import load\n"
        "bot = External(sys.argv[1], limits=ProcessLimits(seconds=600.0, start=60.0))\n"
        "bot.prepare()\n"
        "print('ready', flush=True)\n"
        "bot.choose(Match(load('number-clash'), seed=1).view(0))\n"
    )
    words = command("forks", token)
    host = subprocess.Popen([sys.executable, "-c", script, words], stdout=subprocess.PIPE)
    assert host.stdout is not None
    assert host.stdout.readline() == b"ready\n"
    while len(left(token)) < 5:  # host, supervisor, bot, its child and grandchild
        time.sleep(0.02)
    host.kill()
    host.communicate()
    while left(token):
        time.sleep(0.02)


def test_an_interrupted_choice_leaves_no_answer_for_the_next(token: str, tmp_path: Path) -> None:
    """Ctrl-C in the middle of a choice, in a program that goes on afterwards."""
    import signal

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def choose_interrupted() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        bot.choose(Match(load("number-clash"), seed=1).view(0))

    bot = External(command("late", str(tmp_path / "late"), token), "", SHORT._replace(seconds=1.0))
    bot.prepare()
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            choose_interrupted()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert left(token) == []
    bot.limits = SLOW
    assert bot.choose(Match(load("digit-duel"), seed=1).view(0)) == "1"
    bot.close()


def test_a_cancelled_choice_ends_at_once(token: str) -> None:
    import threading

    bot = External(command("hangs", token), "", SLOW._replace(seconds=600.0))
    bot.prepare()
    threading.Timer(0.2, bot.cancel).start()
    with pytest.raises(Misbehaved):
        bot.choose(Match(load("number-clash"), seed=1).view(0))


def test_what_is_dropped_without_being_closed_ends(token: str) -> None:
    bot = External(command("plays", token), "", SLOW)
    bot.prepare()
    assert left(token)
    del bot


def test_a_forked_process_has_a_bot_of_its_own(token: str) -> None:
    """Two that write to one pipe would get each other's answers."""
    bot = External(command("plays", token), "", SLOW)
    bot.prepare()
    view = Match(load("number-clash"), seed=1).view(0)
    child = os.fork()
    if child == 0:
        good = bot.choose(view) == view.options[0]
        bot.close()
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert bot.choose(view) == view.options[0]
    bot.close()
