"""Cipher Siege: what a player's options are worth, from a strategy close to an equilibrium.

Hands are hidden, so there are no values of states, only of what a player knows: the hand, both
CIs, the sizes, the discards, and the cards each side is known to hold because of swaps. Values are
averages over the hidden cards as near-equilibrium play deals them, never over the true hands. All
of it is approximate, and how far the strategy can be exploited is known from below at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

from duels.core.game import AnyGame, Event, Move, Outcome, Over, Pick
from duels.core.match import Match
from duels.core.player import View
from duels.games.cipher_siege import CipherSiege, Seen, attack_value
from duels.solve import tables
from duels.solve.siege.strategy import KIND, SCALE, UNKNOWN, Strategy
from duels.solve.solution import Assessment, Solution, Unsolved, Value, score
from duels.solve.tables import Progress

UNMEASURED = 0.05
PASSED_BY = 0.5
# The fact of a table that says what a best responder gained, both seats together. Tables trained
# before it had this name carried a guess called "bound", which is not read.
EXPLOITABLE = "exploitable by at least"
Counts = Sequence[int]  # how many cards of each value


class CipherSiegeSolution(Solution):
    game: CipherSiege
    approximate = True

    def __init__(self, game: AnyGame, progress: Progress | None = None) -> None:
        super().__init__(game)
        if self.game.swap != "random":
            raise Unsolved("cipher-siege with swap=chosen is not solved")
        table = tables.find(in_turn_order(self.game), KIND)
        if table is None:
            raise Unsolved(
                "there is no strategy for cipher-siege with these options "
                f"('{training_command(self.game)}' trains one)"
            )
        self.facts = table.facts
        measured = self.facts.get(EXPLOITABLE)
        self.bound = None if measured is None else float(measured)
        self._strategy = Strategy(table.payload)

    @classmethod
    def rebuild(
        cls, game: AnyGame, progress: Progress, path: str | None, minutes: float | None
    ) -> dict[str, Any]:
        from duels.solve.siege.rebuild import rebuild

        assert isinstance(game, CipherSiege)
        return rebuild(game, progress, path, minutes)

    def start_value(self) -> Value:
        """The first player's winning chances when the strategy plays itself."""
        first = float(self.facts["first player"])
        return first if self.game.first == 0 else 1 - first

    def known(self, state: Any) -> Value:
        raise Unsolved("what a hidden hand is worth depends on who looks at it")

    def value(self, state: Any) -> Value:
        turn = self.game.turn(state)
        return score(turn) if isinstance(turn, Over) else self.start_value()

    def value_now(self, match: Match) -> Value:
        if match.deciders:
            return self.assess(match.view(match.deciders[0])).value
        return self.value(match.state)

    def assess(self, view: View) -> Assessment:
        mix, wins, value = self._advice(view)
        # What was never measured is hardly played: worse than all that is known, by a little, and
        # a coin toss where it passes by a win.
        floor = min([*wins.values(), value]) - UNMEASURED
        floor = PASSED_BY if value == 1.0 else max(0.0, floor)
        worth = {move: wins.get(move, value if move in mix else floor) for move in view.options}
        if view.player == 1:
            worth, value = {move: 1 - chance for move, chance in worth.items()}, 1 - value
        return Assessment(view.player, value, worth, mix)

    def _advice(self, view: View) -> tuple[dict[Move, float], dict[Move, float], float]:
        """The mix, the known chances to win of the moves, and of the choice as a whole."""
        seen: Seen = view.observation
        own, other = view.player, 1 - view.player
        hand = self._counts(seen.hand)
        names, best, damage = moves_of(hand, "swap" in {m.split()[0] for m in view.options})
        if not names:
            return {"pass": 1.0}, {}, 0.5
        if damage >= seen.ci[other]:
            return self._winning(view, seen.ci[other])
        memory = Memory(view.history, own, self.game.values)
        key = self._key(
            hand, seen.ci[own], seen.ci[other], seen.sizes[other], self._counts(seen.discard),
            memory.known[other], memory.known[own], memory.choices,
        )  # fmt: skip
        stored = self._strategy.find(key)
        if stored is None:
            return {names[best]: 1.0}, {}, 0.5
        total = sum(weight for _, weight in stored.mix)
        mix = {names[move]: weight / total for move, weight in stored.mix}
        wins = {names[m]: v / SCALE for m, v in enumerate(stored.values) if v != UNKNOWN}
        if not wins:
            return mix, {}, 0.5
        floor = min(wins.values())
        return mix, wins, sum(part * wins.get(move, floor) for move, part in mix.items())

    def _winning(
        self, view: View, target: int
    ) -> tuple[dict[Move, float], dict[Move, float], float]:
        """Somebody who can win at once does; how bad anything else would be is not measured."""
        wins = {
            move: 1.0
            for move in view.options
            if move.startswith("attack") and sum(attack_value(cards(move))) >= target
        }
        return {move: 1 / len(wins) for move in wins}, {**wins}, 1.0

    def _counts(self, held: Sequence[int]) -> tuple[int, ...]:
        return tuple(held.count(value) for value in range(1, self.game.values + 1))

    def _code(self, counts: Counts) -> int:
        code = 0
        for count in reversed(counts):
            code = code * (self.game.copies + 1) + count
        return code

    def _unseen(self, seen: list[int]) -> int:
        """A rough summary of the cards a player cannot see: is their mean low, usual or high?"""
        unseen = [self.game.copies - count for count in seen]
        total = sum(unseen)
        if total == 0:
            return 0
        mean = sum((value + 1) * count for value, count in enumerate(unseen)) / total
        middle = (self.game.values + 1) / 2
        return 1 + sum(mean > middle + edge for edge in (-0.35, -0.12, 0.12, 0.35))

    def _key(
        self, hand: Counts, own_ci: int, other_ci: int, other_size: int, discards: Counts,
        known_other: Counts, known_own: Counts, choices: int,
    ) -> int:  # fmt: skip
        """The key the training kernel gives this information state."""
        codes: int = (self.game.copies + 1) ** self.game.values
        if choices < self.facts["fine_plies"]:
            key, tag = self._code(discards) * codes + self._code(known_own), 2 + (choices & 1)
        else:
            key = self._unseen([a + b for a, b in zip(hand, discards, strict=True)])
            even = self.game.integrity[0] == self.game.integrity[1]
            tag = 1 if even else 4 + (choices & 1)
        key = (key * codes + self._code(known_other)) * codes + self._code(hand)
        cap = max(self.game.integrity) + 1
        return (((key * cap + own_ci) * cap + other_ci) * 8 + other_size) * 6 + tag


def in_turn_order(game: CipherSiege) -> CipherSiege:
    """The same rules with Player 1 to begin: a strategy knows only who moves first and second.

    >>> in_turn_order(CipherSiege(integrity="7/6", first=1)).settings()["integrity"]
    '6/7'
    """
    if game.first == 0:
        return game
    swapped = "/".join(map(str, reversed(game.integrity)))
    return CipherSiege(**{**game.settings(), "first": "1", "integrity": swapped})


def training_command(game: CipherSiege) -> str:
    """What to type for a strategy of these options.

    >>> training_command(CipherSiege(integrity=10, limit=4))
    'duels solve cipher-siege --set integrity=10 --set limit=4'
    """
    usual = tables.settings(CipherSiege())
    own = tables.settings(game).items()
    given = [f" --set {name}={text}" for name, text in own if text != usual[name]]
    return f"duels solve {game.slug}{''.join(given)}"


class Memory:
    """What both players know of each other's hands because of swaps, and how many choices passed.

    A card given in a swap is known to be there until it is played or taken back.
    """

    def __init__(self, history: Sequence[Event], player: int, values: int) -> None:
        self.known: tuple[list[int], list[int]] = ([0] * values, [0] * values)
        self.choices = 0
        giver, given = -1, 0
        for event in history:
            if isinstance(event, Pick):
                ((mover, move),) = event.moves
                self.choices += 1
                if move.startswith("swap"):
                    giver, given = mover, cards(move)[0]
                else:
                    giver = -1
                    self._forget(mover, cards(move))
            elif isinstance(event, Outcome) and giver >= 0:
                taken = int(event.outcome)
                self._forget(giver, (given,))
                self._forget(1 - giver, (taken,))
                self.known[1 - giver][given - 1] += 1
                self.known[giver][taken - 1] += 1
                giver = -1

    def _forget(self, player: int, gone: Sequence[int]) -> None:
        for card in gone:
            if self.known[player][card - 1]:
                self.known[player][card - 1] -= 1


def cards(move: Move) -> tuple[int, ...]:
    return tuple(int(word) for word in move.split()[1:])


@lru_cache(maxsize=4096)
def moves_of(counts: tuple[int, ...], may_swap: bool) -> tuple[tuple[Move, ...], int, int]:
    """The moves of a hand in the strategy's order, the place of the largest attack, its damage."""
    names: list[Move] = []
    best = top = 0
    for picks in product(*(range(count + 1) for count in counts)):
        played = [value + 1 for value, number in enumerate(picks) for _ in range(number)]
        if played:
            damage = sum(attack_value(tuple(played)))
            if damage > top:
                best, top = len(names), damage
            names.append("attack " + " ".join(map(str, played)))
    held = [value + 1 for value, count in enumerate(counts) if count]
    names += [f"defend {card}" for card in held]
    names += [f"swap {card}" for card in held] if may_swap else []
    return tuple(names), best, top
