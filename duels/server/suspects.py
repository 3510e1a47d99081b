"""Players who make no mistakes for too long: a sequential test against a level.

At each choice a level (`duels.algorithms.levels`) has a known chance to make no mistake: to choose
a move without regret by the exact solution. A player who never makes one becomes ever less likely
to be a player of that level. The evidence is a likelihood ratio. Its denominator is the chance of
the level at each choice; its numerator is that of a player who makes `RARELY` times as many
mistakes. The product over the choices of a player who makes mistakes at least as often as the level
does, at every choice, is a supermartingale. So by Ville's inequality it ever reaches 1 / `ALPHA`
with a probability of at most `ALPHA`, however long the player plays and however often it is looked
at. Choices at which the level makes no mistake, as there is nothing at stake, do not count.

The test cannot tell a strong person from a program. It says only that play is better than that of
the level; nothing follows automatically.

>>> choices = [Choice(1, True, {"hard": 0.95}) for _ in range(200)]
>>> evidence(choices, "hard") > THRESHOLD, evidence(choices[:100], "hard") > THRESHOLD
(True, False)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from math import log
from typing import Any

import msgspec

from duels.algorithms.levels import LEVELS, level_strategy
from duels.algorithms.solution import ROUNDING
from duels.algorithms.solutions import solve
from duels.core import record
from duels.core.errors import DuelsError
from duels.core.game import Pick
from duels.core.match import Match
from duels.core.wire import Find
from duels.games import load
from duels.server.rooms import is_rated
from duels.server.storage.base import HUMAN, OVER, RoomStore, Unavailable, header

ALPHA = 0.001  # the chance to list a player who makes as many mistakes as the level
THRESHOLD = -log(ALPHA)
RARELY = 0.1  # mistakes of the player whom the test looks for, relative to the level
STANDARD = "hard"
AT_ONCE = 200  # matches


class Choice(msgspec.Struct, array_like=True):
    """A choice of a match: who made it, whether it has no regret, and the chances of levels."""

    player: int  # 1 or 2
    faultless: bool
    chances: dict[str, float]  # of each level, to choose a move without regret


class Suspect(msgspec.Struct):
    """A player with the evidence that the player is better than a level."""

    id: str
    name: str
    matches: int = 0
    choices: int = 0  # at which the level makes mistakes
    mistakes: int = 0
    expected: float = 0.0  # mistakes of the level at these choices
    evidence: float = 0.0  # the natural logarithm of the likelihood ratio, now
    highest: float = 0.0  # and at its maximum

    def add(self, choices: Iterable[Choice], level: str) -> None:
        """Count the choices of a match."""
        self.matches += 1
        for choice in choices:
            mistake = 1 - choice.chances[level]
            if mistake > ROUNDING:
                self.choices += 1
                self.mistakes += not choice.faultless
                self.expected += mistake
                self.evidence += step(choice.faultless, mistake)
                self.highest = max(self.highest, self.evidence)


def step(faultless: bool, mistake: float) -> float:
    """The logarithm of the likelihood ratio of a choice at which a level errs with a chance."""
    return log((1 - RARELY * mistake) / (1 - mistake)) if faultless else log(RARELY)


def evidence(choices: Iterable[Choice], level: str) -> float:
    """The maximum of the evidence over a sequence of choices."""
    suspect = Suspect("", "")
    suspect.add(choices, level)
    return suspect.highest


def profile(match: Match) -> list[Choice]:
    """The choices of a match; empty if its game has no exact solution."""
    solution = solve(match.game)
    found: list[Choice] = []
    if solution.approximate:
        return found
    for number in match.line:
        entry = match.events[number]
        if not isinstance(entry, Pick):
            continue
        for player, move in entry.moves:
            view = match.view_before(number, player)
            choice = solution.assess(view)
            good = {
                option
                for option in choice.options
                if (regret := choice.regret(option)) is not None and regret < ROUNDING
            }
            dominated = solution.dominated(view, choice)
            chances = {}
            for level in LEVELS:
                strategy = level_strategy(choice, level, dominated)
                chances[level] = min(1.0, sum(strategy[option] for option in good))
            found.append(Choice(player + 1, move in good, chances))
    return found


async def suspects(store: RoomStore, level: str = STANDARD, find: Find = load) -> list[Suspect]:
    """The people for whom the test has ever rejected a level, the strongest evidence first."""
    known: dict[str, Suspect] = {}
    async for seats, choices in _profiles(store, find):
        for number, (kind, id, name) in enumerate(seats, 1):
            if kind == HUMAN:
                suspect = known.setdefault(id, Suspect(id, name))
                suspect.name = name
                suspect.add((one for one in choices if one.player == number), level)
    listed = [suspect for suspect in known.values() if suspect.highest >= THRESHOLD]
    return sorted(listed, key=lambda suspect: -suspect.highest)


async def _profiles(
    store: RoomStore, find: Find
) -> AsyncIterator[tuple[list[tuple[str, str, str]], list[Choice]]]:
    """The seats and choices of all rated matches, in the order in which they ended.

    The choices of a match are computed once and stored.
    """
    after: tuple[float, str] = (-1.0, "")
    while rows := await store.ended_after(*after, AT_ONCE):
        for row in rows:
            after = row.ended or 0.0, row.id
            seats = [(seat.kind, seat.id, seat.name) for seat in row.seats if seat is not None]
            try:
                if len(seats) < 2 or not is_rated(find(row.game, **row.options), row):
                    continue
                data = await store.profile(row.id)
                if data is None:
                    data = await _computed(store, row.id, find)
                    await store.keep_profile(row.id, data)
                yield seats, msgspec.json.decode(data, type=list[Choice])
            except Unavailable:
                raise
            except (DuelsError, msgspec.MsgspecError) as error:
                store.damage.report(row.id, error)


async def _computed(store: RoomStore, room: str, find: Find) -> str:
    stored = await store.load(room)
    begun: Any = None if stored is None else header(stored.row)
    if stored is None or begun is None or stored.row.state != OVER:
        return "[]"
    match = record.follow(begun, stored.entries, find)
    found = await asyncio.to_thread(profile, match)
    return msgspec.json.encode(found).decode()
