"""Digit Duel: attack with a digit, defend with a digit, each digit once; roles switch.

>>> game = DigitDuel()
>>> after_attack = game.play(game.start(), "7")
>>> game.play(after_attack, "5").life
(10, 8)
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

from math import inf
from typing import NamedTuple

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
from duels.core.options import Flag, Number, Pair
from duels.core.pieces import replace_one, without
from duels.core.presentation import (
    Caption,
    Lines,
    Meter,
    Names,
    Part,
    Played,
    Sealed,
    Step,
    Tokens,
    belonging,
    called,
    does,
    fortune,
    heading,
    label,
    listed,
    on_table,
    player_name,
    question,
    signed,
    tokens,
)

RULES = """\
Each player has life points: {life}. Each has the digits 1 to {digits}, each to be used once, to
attack or to defend. Bring the opponent's life points to zero.

A turn:
  1. The attacker picks an unused digit{how}: the Attack Value.
  2. The defender {answer}: the Defense Value.
  3. If the attack is greater, the defender loses the difference in life points. If it is less
     or equal, the attack is blocked and nothing is lost.
  4. Both digits are used up, and the roles switch.

A player at zero life points or below has lost. When all digits are used and both players still
have life points, more life points win; if they are equal, the attacker of the last turn wins.

Rulings
  D1. By default the attack is announced in the open, and the defender sees it before answering.
      With the option hidden=yes both choose in secret. Now: hidden={hidden}.
  D2. The player who starts attacks first. As roles switch every turn, a player who has just
      defended attacks next{row}.
  D3. All digits are used after exactly {turns}. Equal life points then: the attacker of the last
      turn wins.
  D4. Life points may fall below zero and are shown as they are. Defending is compulsory, and a
      block hurts neither player.
  D5. The rulebook's sample shows Player 2 the digits 1, 2, 3 and 7. That is a slip: 4 is unused
      too, and is listed.
  D6. With the default options and perfect play the first attacker wins, whatever digit opens. A
      lead of one life point for the defender (9 against 10) turns that around.
"""


class State(NamedTuple):
    life: tuple[int, int]
    digits: tuple[tuple[int, ...], tuple[int, ...]]  # unused, of each player
    attacker: Seat
    attack: int | None = None  # announced and not answered yet


class DigitDuel(Game[State, State]):
    slug = "digit-duel"
    title = "Digit Duel"
    summary = "Attack and defend with digits you can use only once."
    rules = RULES

    life = Pair(10, 1, 999, "starting life points")
    digits = Number(9, 1, 20, "how many digits each player has")
    hidden = Flag(False, "attacker and defender choose in secret")

    about_fields = {
        "life": "the life points of each player",
        "digits": "the digits that each player has not used",
        "attacker": "the player who attacks in this turn",
        "attack": "the Attack Value that the attacker announced; null before that",
    }
    about_moves = {
        "DIGIT": "one of your unused digits: the Attack Value if you are the attacker, otherwise "
        "the Defense Value"
    }

    def words(self) -> dict[str, str]:
        return {
            "how": " in secret" if self.hidden else " and announces it",
            "answer": "does the same" if self.hidden else "answers with an unused digit",
            "row": "" if self.hidden else ": two choices in a row",
            "turns": f"{self.digits} turn{'' if self.digits == 1 else 's'}",
        }

    # Setup and turns

    def start(self) -> State:
        digits = tuple(range(1, self.digits + 1))
        return State(self.life, (digits, digits), self.first)

    def turn(self, state: State) -> Decide | Chance | Over:
        for player in (0, 1):
            if state.life[player] <= 0:
                return Over(1 - player, f"{player_name(player)} has no life points left.")
        defender = 1 - state.attacker
        if not state.digits[defender]:
            return self._exhausted(state)
        if self.hidden:
            return Decide({player: tuple(map(str, state.digits[player])) for player in (0, 1)})
        player = state.attacker if state.attack is None else defender
        return Decide({player: tuple(map(str, state.digits[player]))})

    def _exhausted(self, state: State) -> Over:
        """The end if all digits are used. Roles have switched since: the defender attacked last."""
        one, two = state.life
        if one == two:
            last = player_name(1 - state.attacker)
            return Over(1 - state.attacker, f"All digits are used, and {last} attacked last.")
        return Over(0 if one > two else 1, "All digits are used.")

    # Rules

    def play(self, state: State, *picks: str) -> State:
        if self.hidden:
            attack, defence = picks if state.attacker == 0 else reversed(picks)
            return self._resolve(self._announce(state, int(attack)), int(defence))
        if state.attack is None:
            return self._announce(state, int(picks[0]))
        return self._resolve(state, int(picks[0]))

    def _announce(self, state: State, attack: int) -> State:
        digits = self._use(state.digits, state.attacker, attack)
        return state._replace(digits=digits, attack=attack)

    def _resolve(self, state: State, defence: int) -> State:
        assert state.attack is not None
        defender = 1 - state.attacker
        left = state.life[defender] - max(0, state.attack - defence)
        life = replace_one(state.life, defender, left)
        return State(life, self._use(state.digits, defender, defence), attacker=defender)

    def _use(
        self, digits: tuple[tuple[int, ...], tuple[int, ...]], player: int, used: int
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return replace_one(digits, player, without(digits[player], (used,)))

    # Nothing in a state is hidden: the match keeps the sealed picks of the hidden variant.

    def observe(self, state: State, viewer: int | None) -> State:
        return state

    def gain(self, seen: State, player: int, move: str) -> float:
        digit = int(move)
        if player != seen.attacker:
            attacks = [seen.attack] if seen.attack is not None else list(seen.digits[1 - player])
            return -sum(max(0, attack - digit) for attack in attacks) / len(attacks)
        answers = seen.digits[1 - player]
        if digit - max(answers) >= seen.life[1 - player]:
            return inf
        return sum(max(0, digit - answer) for answer in answers) / len(answers)

    def moves(self) -> tuple[str, ...]:
        return tuple(str(digit) for digit in range(1, self.digits + 1))

    def features(self) -> tuple[str, ...]:
        digits = [f"{side} {digit}" for side in ("own", "other") for digit in self.moves()]
        return (*digits, "own life", "other life", "own attack turn", "attack to answer")

    def encode(self, seen: State, player: int) -> tuple[int, ...]:
        sides = (seen.digits[player], seen.digits[1 - player])
        held = [int(digit in side) for side in sides for digit in range(1, self.digits + 1)]
        life = (max(0, seen.life[player]), max(0, seen.life[1 - player]))
        return (*held, *life, int(seen.attacker == player), seen.attack or 0)

    def bounds(self) -> tuple[int, ...]:
        return (*(1,) * 2 * self.digits, max(self.life), max(self.life), 1, self.digits)

    def longest(self) -> int:
        return self.digits if self.hidden else 2 * self.digits

    # Display

    def status(self, seen: State, viewer: int | None, history: History = ()) -> Lines:
        if self.hidden or seen.attack is None:
            return ["", *self._attack_block(seen, viewer)]
        # Announced here and not when it is chosen, so that the defender always sees it.
        announced = f"{does(seen.attacker, viewer, 'attacks')} with {seen.attack}"
        return [announced, "", *self._defence_block(seen, viewer)]

    def _attack_block(self, seen: State, viewer: int | None) -> Lines:
        life = (f"{called(player, viewer)} - {seen.life[player]}" for player in (0, 1))
        return [
            heading(f"--- {belonging(seen.attacker, viewer)} Turn ---"),
            on_table(f"Available Digits: {listed(seen.digits[seen.attacker], ',')}"),
            on_table(f"Life Points: {listed(life)}"),
        ]

    def _defence_block(self, seen: State, viewer: int | None) -> Lines:
        defender = 1 - seen.attacker
        return [
            heading(f"--- {belonging(defender, viewer)} Defense ---"),
            on_table(f"Available Digits: {listed(seen.digits[defender], ',')}"),
            on_table(f"Life Points: {called(defender, viewer)} - {seen.life[defender]}"),
        ]

    def ask(self, seen: State, player: int, so_far: str) -> Step | None:
        if so_far:
            return None
        left = seen.digits[player]
        value = "Attack" if player == seen.attacker else "Defense"
        used = [digit for digit in range(1, self.digits + 1) if digit not in left]
        refused = {str(digit): "You have used that digit already." for digit in used}
        return question(
            f"Enter your {value} Value", tuple(map(str, left)), kind=value.lower(), refused=refused,
            brief=self._brief(seen, player), effects=self._effects(seen, player),
            player=player if self.hidden else None,
            listing=f"[{listed(left, ',')}]" if self.hidden else "",
        )  # fmt: skip

    def _brief(self, seen: State, player: int) -> str:
        if player == seen.attacker:
            return "Attack with a digit"
        return "Defend in secret" if seen.attack is None else f"Defend against {seen.attack}"

    def _effects(self, seen: State, player: int) -> dict[str, str]:
        """The damage that each answer to an announced attack lets through."""
        if player == seen.attacker or seen.attack is None:
            return {}
        damage = {digit: max(0, seen.attack - digit) for digit in seen.digits[player]}
        lethal = seen.life[player]
        return {
            str(digit): f"{signed(-lost)}{', lost' if lost >= lethal else ''}"
            for digit, lost in damage.items()
        }

    def tell(self, before: State, event: Event, after: State, viewer: int | None) -> Lines:
        assert not isinstance(event, Outcome)
        attacker, defender = before.attacker, 1 - before.attacker
        picks = {player: int(move) for player, move in event.moves}
        if defender not in picks:
            return []
        attack = before.attack if before.attack is not None else picks[attacker]
        defence, life = picks[defender], before.life[defender]
        lines: Lines = [
            "",
            heading("--- Turn Resolution ---"),
            f"{called(attacker, viewer)} attacked with {attack}",
            f"{called(defender, viewer)} defended with {defence}",
        ]
        damage = max(0, attack - defence)
        if damage:
            lines += [
                fortune(f"Damage Dealt: {attack} - {defence} = {damage}", attacker, viewer),
                f"{label(defender, viewer)} Life Points: {life} - {damage} = {life - damage}",
            ]
        else:
            lines += [fortune("No damage dealt", defender, viewer)]
        return [*lines, "", heading("--- End of Turn ---")]

    def ending(self, seen: State, result: Result, viewer: int | None = None) -> Lines:
        dealt = (
            f"{called(player, viewer)} - {self.life[1 - player] - seen.life[1 - player]}"
            for player in (0, 1)
        )
        return ["", *verdict(result, viewer, "wins the game!"), f"Total Damage: {listed(dealt)}"]

    def caption(self, before: State, event: Event, after: State, names: Names) -> Caption:
        assert not isinstance(event, Outcome)
        attacker, defender = before.attacker, 1 - before.attacker
        picks = {player: int(move) for player, move in event.moves}
        if defender not in picks:
            return Caption(f"{names.does(attacker, 'attacks')}: {picks[attacker]}")
        attack = before.attack if before.attack is not None else picks[attacker]
        lost = before.life[defender] - after.life[defender]
        life = f"{names.whose(defender)} life: {after.life[defender]}"
        if not lost:
            blocks = names.does(defender, f"blocks {attack}")
            return Caption(f"{blocks} with {picks[defender]}", life, defender)
        answer = f"{attack} against {picks[defender]}: {signed(-lost)}"
        return Caption(answer, life, attacker)

    def table(self, seen: State, viewer: int | None, history: History = ()) -> list[Part]:
        parts: list[Part] = []
        for player, left in enumerate(seen.digits):
            spent = (digit for digit in range(1, self.digits + 1) if digit not in left)
            parts.append(Meter("Life Points", seen.life[player], self.life[player], player))
            parts.append(Tokens("Digits", tokens(left, spent, player == viewer), player))
        if seen.attack is not None:
            parts.append(Played("Attack", str(seen.attack), seen.attacker))
        choosing = self.hidden and bool(seen.digits[0]) and min(seen.life) > 0
        return [*parts, *(Sealed("Choice", owner=player) for player in (0, 1) if choosing)]
