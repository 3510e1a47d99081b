"""How players are asked: what they need, how they are hurried, awaited and cancelled."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from duels.core.chance import stream
from duels.core.errors import MalformedMove, UnknownName
from duels.core.game import Result
from duels.core.match import Match, inform
from duels.core.player import Player, View, answer, answer_async
from duels.games import BUILT_IN as GAMES
from duels.games import load
from duels.players import BUILT_IN, class_of, make_opponent, needs_solution
from duels.players.base import MixedStrategyOpponent
from duels.players.ismcts import Ismcts

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_opponent_is_a_player_and_says_what_it_needs(name: str) -> None:
    made = make_opponent(name, stream(1, 0))
    assert isinstance(made, Player)
    assert type(made) is class_of(name)
    assert made.needs_solution == needs_solution(name) == ("optimal" in type(made).__module__)
    assert made.needs_history == (name == "ismcts")


def test_no_other_player_needs_a_solution() -> None:
    assert not needs_solution("human", "somebody from an old record", "random")
    with pytest.raises(UnknownName, match="a human chooses at a keyboard"):
        class_of("human")


@pytest.mark.parametrize("name", BUILT_IN)
def test_only_players_with_a_mixed_strategy_give_one(name: str) -> None:
    view = Match(load("number-clash", numbers=4), seed=1).view(0)
    made = make_opponent(name, stream(1, 0))
    mix = made.mixed_strategy(view)
    assert (mix is not None) == isinstance(made, MixedStrategyOpponent)
    if mix is None:
        assert name == "ismcts"
        return
    assert sum(mix.values()) == pytest.approx(1)
    chosen = {make_opponent(name, stream(seed, 0)).choose(view) for seed in range(200)}
    assert chosen == {move for move, chance in mix.items() if chance > 0.02}


def test_no_opponent_holds_the_seed_of_the_match() -> None:
    seed = 987654321
    for name in BUILT_IN:
        made = make_opponent(name, stream(seed, 1))
        assert str(seed) not in repr(vars(made))


def test_what_a_menu_says_costs_no_import() -> None:
    script = (
        "import sys, duels.players as p\n"
        "assert all(0 < len(listed.about) < 50 for listed in p.BUILT_IN.values())\n"
        "print([name for name in sys.modules if name.startswith('duels.players.')])\n"
        "p.needs_solution(*p.BUILT_IN)\n"
        "print([name for name in ('random', 'hashlib', 'asyncio') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n[]\n"


class Slow(Player):
    """Thinks until it is told, as one that asks over a network does."""

    def __init__(self) -> None:
        self.asked, self.told, self.left = asyncio.Event(), asyncio.Event(), False

    async def choose(self, view: View) -> str:
        self.asked.set()
        try:
            await self.told.wait()
        finally:
            self.left = True
        return view.options[-1]


def test_a_player_may_be_asynchronous() -> None:
    view = Match(load("firewall-breach"), seed=1).view(0)
    told = Slow()
    told.told.set()
    assert answer(told, view) == "bypass"

    async def play() -> str:
        player = Slow()
        asked = asyncio.create_task(answer_async(player, view))
        await player.asked.wait()
        player.told.set()
        return await asked

    assert asyncio.run(play()) == "bypass"


def test_a_choice_that_is_awaited_can_be_cancelled() -> None:
    view = Match(load("firewall-breach"), seed=1).view(0)

    async def play() -> bool:
        player = Slow()
        asked = asyncio.create_task(answer_async(player, view))
        await player.asked.wait()
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        return player.left

    assert asyncio.run(play())


class Watched(Ismcts):
    """Says when it thinks; it would go on for ever."""

    def __init__(self) -> None:
        super().__init__(stream(1, 0), iterations=10**12)
        self.thinking, self.answered = threading.Event(), threading.Event()

    def choose(self, view: View) -> str:
        move = super().choose(view)
        self.answered.set()
        return move

    def _iterate(self, *arguments: object) -> None:
        super()._iterate(*arguments)  # type: ignore[arg-type]
        self.thinking.set()


@pytest.mark.parametrize("slug", GAMES)
def test_a_search_stops_when_it_is_cancelled(slug: str) -> None:
    view = Match(load(slug), seed=1).view(0)

    async def play(player: Watched) -> None:
        asked = asyncio.create_task(answer_async(player, view))
        await asyncio.to_thread(player.thinking.wait)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked

    player = Watched()
    asyncio.run(play(player))
    player.answered.wait()
    assert (
        make_opponent("ismcts", "").choose(view._replace(options=view.options[:1]))
        == view.options[0]
    )


class Ticking(Ismcts):
    """Each look at its clock takes a second."""

    def __init__(self) -> None:
        self.time, self.done = 0.0, 0
        super().__init__(stream(1, 0), now=self.tick)

    def tick(self) -> float:
        self.time += 1
        return self.time

    def _iterate(self, *arguments: object) -> None:
        super()._iterate(*arguments)  # type: ignore[arg-type]
        self.done += 1


@pytest.mark.parametrize("slug", GAMES)
def test_a_search_leaves_half_of_its_time(slug: str) -> None:
    view = Match(load(slug), seed=1).view(0)
    for clock in (3.0, 20.0, 400.0):
        player = Ticking()
        assert player.choose(view._replace(clock=clock)) in view.options
        assert player.time <= max(0.5 * clock, min(len(view.options), 0.9 * clock)) + 2
        assert player.done >= min(len(view.options), 0.9 * clock - 2)


def test_without_a_clock_a_search_does_not_look_at_the_time() -> None:
    view = Match(load("digit-duel"), seed=1).view(0)
    hurried, unhurried = Ticking(), Ticking()
    assert hurried.choose(view._replace(clock=1e9)) == unhurried.choose(view)
    assert unhurried.time == 1
    assert unhurried.done == hurried.done == 1500


class Told(Player):
    """Writes down what it is told, and answers what it was made with."""

    def __init__(self, move: Any = None) -> None:
        self.move = move
        self.heard: list[Any] = []

    def choose(self, view: View) -> Any:
        return self.move

    def on_event(self, number: int, entry: Any) -> None:
        self.heard.append((number, entry))

    def on_end(self, result: Result) -> None:
        self.heard.append(result)


def test_a_player_is_told_everything_once_and_as_it_may_know_it() -> None:
    match, player, since = Match(load("cipher-siege"), seed=4), Told(), 0
    for _ in range(6):
        since = inform(player, match, seat=1, since=since)
        since = inform(player, match, seat=1, since=since)
        seat = match.deciders[0]
        match.submit(seat, match.view(seat).options[0])
    match.undo(0)
    match.resign(0)
    inform(player, match, 1, inform(player, match, 1, since))
    told = [(logged.number, logged.entry) for logged in match.log(1)[:-1]]
    assert player.heard == [*told, match.result]


@pytest.mark.parametrize("wrong", [None, 7, ["attack"], b"attack"])
def test_an_answer_that_is_no_text_is_refused(wrong: Any) -> None:
    async def later() -> Any:
        return wrong

    view = Match(load("firewall-breach"), seed=1).view(0)
    for awaited in (False, True):
        with pytest.raises(MalformedMove, match="expected a move as text"):
            answer(Told(later() if awaited else wrong), view)
        with pytest.raises(MalformedMove, match="expected a move as text"):
            asyncio.run(answer_async(Told(later() if awaited else wrong), view))
