"""Values of Cipher Siege moves, estimated by play-outs from an information state.

The opponent's hand is sampled from the exact posterior (`belief.py`), and both sides follow the
strategy to the end. Whether the opponent wins on its next turn is computed exactly. The random
numbers are determined by the position, so that the same query gives the same result.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate
from math import sqrt

from duels.algorithms.estimate import Estimate
from duels.core.game import Move
from duels.core.player import View
from duels.games.cipher_siege.belief import Belief, Policy
from duels.games.cipher_siege.encoding import CardEncoding
from duels.games.cipher_siege.infostate import InfoState
from duels.games.cipher_siege.rules import ATTACK, SWAP, after_move, refilled

BATCH = 40  # play-outs at a time, stratified over the opponent's hand and draw
LONGEST = 60  # turns of a play-out; then it counts as a draw
REMEMBERED = 50_000  # cached mixed strategies

# A position after a draw: the mover's hand, the other hand, the discards, both CIs, the cards that
# the mover knows in the other hand and vice versa, and the number of choices so far.
Position = tuple[int, int, int, int, int, int, int, int]


class SelfPlay:
    """Plays the strategy against itself."""

    def __init__(self, encoding: CardEncoding, policy: Policy) -> None:
        self.encoding, self.policy = encoding, policy
        self._strategies: dict[tuple[int, ...], tuple[tuple[int, ...], tuple[float, ...]]] = {}

    def play_out(self, position: Position, end: int, random: Callable[[], float]) -> float:
        """The mover's score of one game; at choice number `end` it is a draw."""
        encoding = self.encoding
        cards_of, hand_of = encoding.cards, encoding.hand
        without, radix = encoding.without, encoding.radix
        hand, other, discards, ci, other_ci, known_other, known_own, choices = position
        begun = choices & 1
        while choices < end:
            held = hand_of(hand)
            if held.damage >= other_ci:
                return 1.0 if choices & 1 == begun else 0.0
            if hand:
                others = cards_of(other)
                info = (hand, len(others), discards, ci, other_ci, known_other, known_own, choices)
                moves, sums = self._strategies.get(info) or self._mixed_strategy(info)
                at = moves[0] if len(moves) == 1 else moves[bisect(sums, random() * sums[-1])]
                kind, played, worth = held.rows[at]
                hand -= played
                if known_own:
                    known_own = without(known_own, played)
                if kind == SWAP:
                    taken = radix[others[int(random() * len(others))] - 1]
                    hand, other = hand + taken, other - taken + played
                    known_own += taken
                    known_other = without(known_other, taken) + played
                else:
                    discards += played
                    cap = encoding.integrity[choices & 1]
                    ci, other_ci = after_move(kind, worth, ci, other_ci, cap)
            choices += 1
            hand, other, ci, other_ci = other, hand, other_ci, ci
            known_other, known_own = known_own, known_other
            deck, discards = refilled(encoding.pack - hand - other - discards, discards, 0)
            if deck:
                left = cards_of(deck)
                hand += radix[left[int(random() * len(left))] - 1]
        return 0.5

    def _mixed_strategy(self, info: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[float, ...]]:
        if len(self._strategies) >= REMEMBERED:
            self._strategies.clear()
        weights = self.policy(InfoState(*info))
        found = tuple(at for at, _ in weights), tuple(accumulate(weight for _, weight in weights))
        self._strategies[info] = found
        return found


class PlayOutTally:
    """The play-outs of one move."""

    def __init__(self, positions: list[tuple[float, Position]], over: float, score: float) -> None:
        """`positions` with their odds; games that end at once have odds `over`, and add `score`."""
        self.positions = [position for _, position in positions]
        self.sums = list(accumulate(odd for odd, _ in positions))
        self.over, self.score = over, score
        self._after = [(0.0, 0.0)]  # after each batch: sums of scores and of squared differences

    @property
    def count(self) -> int:
        return BATCH * (len(self._after) - 1)

    @property
    def sure(self) -> bool:
        """Whether the value is exact, since there is no position to play out."""
        return not self.positions

    def run(self, score: Callable[[Position], float], offset: float) -> None:
        """Play a batch that is stratified over the positions in their order."""
        total, differences = self._after[-1]
        last = None
        for number in range(BATCH):
            at = bisect(self.sums, (number + offset) / BATCH * self.sums[-1])
            found = score(self.positions[min(at, len(self.positions) - 1)])
            total += found
            differences += 0.0 if last is None else (found - last) ** 2
            last = found
        self._after.append((total, differences))

    def worth(self, batches: int) -> float:
        """The mover's expected score by the first `batches`; an `Estimate` unless it is exact."""
        if self.sure:
            return self.score
        total, differences = self._after[batches]
        count = BATCH * batches
        # Neighbours have similar hands and draws, so they differ mainly by chance. One loss is
        # added to those that occurred, so that an estimate is never certain.
        pairs = (BATCH - 1) * batches
        spread = sqrt((differences / 2 + 1) / pairs / count)
        rest = 1 - self.over
        return Estimate(self.score + rest * total / count, rest * spread)


class PlayOuts:
    """Play-outs of the moves of one choice."""

    def __init__(self, player: SelfPlay, view: View, longest: int = LONGEST) -> None:
        from random import Random  # imported late: most choices need no play-out

        self._random, self._player = Random, player
        self.belief = Belief(player.encoding, player.policy, view)
        self._end = self.belief.choices + longest
        about = view.game.slug, view.game.settings(), view.player, view.observation, view.history
        self._seed = repr(about)
        self._tallies: dict[Move, PlayOutTally] = {}

    def measure(self, move: Move, count: int) -> float:
        """The mover's expected score with a move, from `count` play-outs, in whole batches."""
        tally = self._tallies.get(move)
        if tally is None:
            tally = self._tallies[move] = self._tally(move)
        while tally.count < count and not tally.sure:
            # Common random numbers for all moves, so that their differences vary less.
            random = self._random(f"{self._seed} {tally.count}").random

            def score(position: Position, random: Callable[[], float] = random) -> float:
                return 1 - self._player.play_out(position, self._end, random)

            tally.run(score, random())
        return tally.worth(-(-count // BATCH))

    def _tally(self, move: Move) -> PlayOutTally:
        """The positions after a move and the opponent's draw, without those that the draw wins."""
        encoding, info = self._player.encoding, self.belief.info_state
        kind, _, worth = encoding.row(move) if move != "pass" else (-1, 0, 0)
        if kind == ATTACK and worth >= info.other_ci:
            return PlayOutTally([], 1.0, 1.0)
        if info.choices + 1 >= self._end:
            return PlayOutTally([], 1.0, 0.5)
        positions, lost = [], 0.0
        for odd, position in self._replies(move):
            if encoding.hand(position[0]).damage >= position[4]:
                lost += odd
            else:
                positions.append((odd, position))
        positions.sort(key=lambda found: (encoding.hand(found[1][0]).damage, found[1]))
        return PlayOutTally(positions, lost, 0.0)

    def _replies(self, move: Move) -> Iterator[tuple[float, Position]]:
        encoding = self._player.encoding
        for odd, position in self._moved(move):
            hand, other, discards = position[:3]
            deck, discards = refilled(encoding.pack - hand - other - discards, discards, 0)
            left = encoding.counts(deck)
            size = sum(left)
            if not size:
                yield odd, position
            for count, card in zip(left, encoding.radix, strict=True):
                if count:
                    yield odd * count / size, (hand + card, other, discards, *position[3:])

    def _moved(self, move: Move) -> Iterator[tuple[float, Position]]:
        """The positions after a move, before the opponent draws."""
        encoding, info = self._player.encoding, self.belief.info_state
        kind, played, worth = encoding.row(move) if move != "pass" else (-1, 0, 0)
        cap, after = encoding.integrity[info.choices & 1], info.choices + 1
        ci, other_ci = after_move(kind, worth, info.ci, info.other_ci, cap)
        own = info.hand - played
        known_own = encoding.without(info.known_own, played)
        discards = info.discards + (0 if kind == SWAP else played)
        for held, odd in self.belief.odds.items():
            if kind != SWAP:
                yield odd, (held, own, discards, other_ci, ci, known_own, info.known_other, after)
                continue
            size = len(encoding.cards(held))
            for count, card in zip(encoding.counts(held), encoding.radix, strict=True):
                if count:
                    known_other = encoding.without(info.known_other, card) + played
                    yield odd * count / size, (
                        held - card + played, own + card, discards, other_ci, ci,
                        known_own + card, known_other, after,
                    )  # fmt: skip
