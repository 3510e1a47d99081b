"""Firewall Breach: a risky attack or a sure bypass, until one firewall is down.

>>> game = FirewallBreach()
>>> game.play(game.play(game.start(), "attack"), "5")
State(strength=(10, 7), mover=1, rolling=False)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from functools import cache
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from duels.core.game import (
    Chance,
    Decide,
    Event,
    Game,
    History,
    Outcome,
    Over,
    Result,
    Seat,
    verdict,
)
from duels.core.options import Number, Pair
from duels.core.pieces import replace_one
from duels.core.presentation import (
    Caption,
    Die,
    Lines,
    Meter,
    Names,
    Part,
    Step,
    belonging,
    fortune,
    heading,
    on_table,
    player_name,
    question,
    signed,
    who,
    whose,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from fractions import Fraction

ACTIONS = ("attack", "bypass")
FACES = 6
LOWEST_HIT = 4  # a roll of 4, 5 or 6 succeeds
HITS = FACES - LOWEST_HIT + 1

RULES = """\
Two players each guard a firewall of strength {strength}. Bring the other's down to zero first.

Players take turns. On your turn choose one action:
  attack   Roll a six-sided die. On 4, 5 or 6 the opponent's firewall loses {hit}.
           On 1, 2 or 3 nothing happens.
  bypass   The opponent's firewall loses {bypass}, without fail.

Then it is the other player's turn. A firewall at zero is breached and its owner has lost.
There are no draws: play goes on until one firewall is down.

Rulings
  F1. Damage beyond zero is ignored: strength stops at 0, so a hit of {hit} breaks any firewall
      of {hit} or less.
  F2. The roll and both strengths are open to all. Text speaks to the player who reads it;
      at a shared keyboard that is the player whose turn it is. Spectators read names.
  F3. With the default options and perfect play the player who starts wins 277 games in 486.
"""


class State(NamedTuple):
    strength: tuple[int, int]
    mover: Seat
    rolling: bool = False  # an attack was chosen and the die is not rolled yet


@cache
def die() -> "Mapping[str, Fraction]":
    """The odds of a roll. Made when first used, because importing fractions slows start-up."""
    from fractions import Fraction

    return {str(face): Fraction(1, FACES) for face in range(1, FACES + 1)}


class FirewallBreach(Game[State, State]):
    slug = "firewall-breach"
    title = "Firewall Breach"
    summary = "Attack with a die or bypass without one, and bring the other firewall down to zero."
    rules = RULES

    strength = Pair(10, 1, 999, "starting firewall strength")
    hit = Number(3, 1, 999, "damage of a successful attack")
    bypass = Number(1, 1, 999, "damage of a bypass")

    about_fields = {
        "strength": "the strength of each player's firewall",
        "mover": "the player whose turn it is",
        "rolling": "whether the die of an attack is not rolled yet; false whenever you choose",
    }
    about_moves = {
        "attack": "roll a die; on 4, 5 or 6 the opponent's firewall loses `hit` (an option, "
        "default 3)",
        "bypass": "the opponent's firewall always loses `bypass` (an option, default 1)",
    }
    about_chance = "the roll of the die after an attack, 1 to 6; `by` is the attacker"

    # Setup and turns

    def start(self) -> State:
        return State(self.strength, self.first)

    def turn(self, state: State) -> Decide | Chance | Over:
        for player in (0, 1):
            if state.strength[player] == 0:
                reason = f"{player_name(player)}'s Firewall has reached zero."
                return Over(1 - player, reason)
        if state.rolling:
            return Chance(die(), by=state.mover)
        return Decide({state.mover: ACTIONS})

    # Rules

    def play(self, state: State, *picks: str) -> State:
        (pick,) = picks
        if pick == "attack":
            return state._replace(rolling=True)
        if pick == "bypass":
            return self._damage(state, self.bypass)
        return self._damage(state, self.hit if int(pick) >= LOWEST_HIT else 0)

    def _damage(self, state: State, damage: int) -> State:
        target = 1 - state.mover
        left = max(0, state.strength[target] - damage)
        return State(replace_one(state.strength, target, left), mover=target)

    # Everything is open: each viewer sees the state as it is.

    def observe(self, state: State, viewer: int | None) -> State:
        return state

    def gain(self, seen: State, player: int, move: str) -> float:
        target = seen.strength[1 - player]
        if move == "attack":
            return min(self.hit, target) * HITS / FACES
        return inf if self.bypass >= target else self.bypass

    def moves(self) -> tuple[str, ...]:
        return ACTIONS

    def features(self) -> tuple[str, ...]:
        return ("own firewall", "other firewall", "own turn")

    def encode(self, seen: State, player: int) -> tuple[int, ...]:
        return (seen.strength[player], seen.strength[1 - player], int(seen.mover == player))

    def bounds(self) -> tuple[int, ...]:
        return (max(self.strength), max(self.strength), 1)

    # Display

    def opening(self, seen: State, viewer: int | None = None) -> Lines:
        return [heading("[Game Start]")]

    def status(self, seen: State, viewer: int | None, history: History = ()) -> Lines:
        mine = 0 if viewer is None else viewer
        return [
            "",
            heading(f"{belonging(seen.mover, viewer)} Turn:"),
            on_table(f"{whose(mine, viewer)} Firewall: {seen.strength[mine]}"),
            on_table(f"{whose(1 - mine, viewer)} Firewall: {seen.strength[1 - mine]}"),
        ]

    def ask(self, seen: State, player: int, so_far: str) -> Step | None:
        if so_far:
            return None
        left = seen.strength[1 - player]
        effects = {
            "attack": f"{100 * HITS // FACES} %: {signed(-min(self.hit, left))}",
            "bypass": signed(-min(self.bypass, left)),
        }
        return question(
            "Choose your action", ACTIONS, kind="action", listing="('attack' or 'bypass')",
            brief="Attack or bypass?", effects=effects,
        )  # fmt: skip

    def tell(self, before: State, event: Event, after: State, viewer: int | None) -> Lines:
        mover = before.mover
        target = 1 - mover
        lost = before.strength[target] - after.strength[target]
        loss = f"{whose(target, viewer)} firewall reduced by {lost}."
        if isinstance(event, Outcome):
            lines = [f"{who(mover, viewer)} rolled a {event.outcome}."]
            if lost:
                return [*lines, fortune(f"Attack successful! {loss}", mover, viewer)]
            same = f"{whose(target, viewer)} firewall remains the same."
            return [*lines, fortune(f"Attack failed! {same}", mover, viewer, lucky=False)]
        if event.moves[0][1] == "bypass":
            return [f"{who(mover, viewer)} chose to Bypass.", loss]
        lines = [f"{who(mover, viewer)} chose to Attack."]
        return [*lines, "Rolling dice..."] if viewer == mover else lines

    def ending(self, seen: State, result: Result, viewer: int | None = None) -> Lines:
        return ["", *verdict(result, viewer, "Wins!")]

    def caption(self, before: State, event: Event, after: State, names: Names) -> Caption:
        mover, target = before.mover, 1 - before.mover
        lost = before.strength[target] - after.strength[target]
        left = f"{names.whose(target)} firewall: {after.strength[target]} left"
        if isinstance(event, Outcome):
            effect = signed(-lost) if lost else "no damage"
            text = f"{names.does(mover, 'rolled')} {event.outcome}: {effect}"
            return Caption(text, left, mover if lost else target)
        if event.moves[0][1] == "bypass":
            return Caption(f"{names.does(mover, 'bypasses')}: {signed(-lost)}", left, mover)
        return Caption(names.does(mover, "attacks"), "The die is rolled")

    def table(self, seen: State, viewer: int | None, history: History = ()) -> list[Part]:
        meters: list[Part] = [
            Meter("Firewall", seen.strength[player], self.strength[player], player)
            for player in (0, 1)
        ]
        last = history[-1] if history else None
        if isinstance(last, Outcome):
            return [*meters, Die("Die", last.outcome, last.by)]
        return meters
