"""What a move of Cipher Siege is worth, measured on the spot: play-outs from what a player knows.

The other's hand is dealt by its exact odds (`hidden.py`), and both sides follow the strategy to the
end. Whether the other wins at once is worked out, not played. Randomness comes from the position
alone, so that the same question gets the same answer.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate
from math import sqrt

from duels.core.game import Move
from duels.core.player import View
from duels.solve.estimate import Estimate
from duels.solve.siege.hidden import Hidden, Policy
from duels.solve.siege.places import DEFEND, SWAP, Codes, Info

BATCH = 40  # play-outs at a time, spread evenly over what the other may hold and draw
LONGEST = 60  # turns of a play-out; then it counts as a draw
REMEMBERED = 50_000  # mixes

# A position after a draw: the mover's hand, the other's, the discards, both CIs, what the mover
# knows of the other's hand and the other of the mover's, and the choices so far.
Place = tuple[int, int, int, int, int, int, int, int]


class Player:
    """Plays the strategy against itself."""

    def __init__(self, codes: Codes, policy: Policy) -> None:
        self.codes, self.policy = codes, policy
        self._mixes: dict[tuple[int, ...], tuple[tuple[int, ...], tuple[float, ...]]] = {}

    def play_out(self, place: Place, end: int, random: Callable[[], float]) -> float:
        """The mover's score of one game; at choice number `end` it is a draw."""
        codes = self.codes
        cards_of, hand_of, without, radix = codes.cards, codes.hand, codes.without, codes.radix
        hand, other, discards, ci, other_ci, known_other, known_own, choices = place
        begun = choices & 1
        while choices < end:
            held = hand_of(hand)
            if held.damage >= other_ci:
                return 1.0 if choices & 1 == begun else 0.0
            if hand:
                others = cards_of(other)
                info = (hand, len(others), discards, ci, other_ci, known_other, known_own, choices)
                moves, sums = self._mixes.get(info) or self._mix(info)
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
                    if kind == DEFEND:
                        ci = min(codes.integrity[choices & 1], ci + worth)
                    else:
                        other_ci -= worth
            choices += 1
            hand, other, ci, other_ci = other, hand, other_ci, ci
            known_other, known_own = known_own, known_other
            deck = codes.pack - hand - other - discards
            if not deck:
                deck, discards = discards, 0
            if deck:
                left = cards_of(deck)
                hand += radix[left[int(random() * len(left))] - 1]
        return 0.5

    def _mix(self, info: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[float, ...]]:
        if len(self._mixes) >= REMEMBERED:
            self._mixes.clear()
        mix = self.policy(Info(*info))
        found = tuple(at for at, _ in mix), tuple(accumulate(weight for _, weight in mix))
        self._mixes[info] = found
        return found


class Tally:
    """The play-outs of one move so far."""

    def __init__(self, places: list[tuple[float, Place]], over: float, score: float) -> None:
        """Places the other may be in with their odds; those that end at once, and their score."""
        self.places = [place for _, place in places]
        self.sums = list(accumulate(odd for odd, _ in places))
        self.over, self.score = over, score
        self._after = [(0.0, 0.0)]  # sums of the scores and of squared differences, by batches

    @property
    def count(self) -> int:
        return BATCH * (len(self._after) - 1)

    @property
    def sure(self) -> bool:
        """Whether nothing is left to play out."""
        return not self.places

    def run(self, score: Callable[[Place], float], offset: float) -> None:
        """A batch spread evenly over the places, in their order."""
        total, differences = self._after[-1]
        last = None
        for number in range(BATCH):
            at = bisect(self.sums, (number + offset) / BATCH * self.sums[-1])
            found = score(self.places[min(at, len(self.places) - 1)])
            total += found
            differences += 0.0 if last is None else (found - last) ** 2
            last = found
        self._after.append((total, differences))

    def worth(self, batches: int) -> float:
        """The mover's chance to win by the first so many batches; an `Estimate`, unless sure."""
        if self.sure:
            return self.score
        total, differences = self._after[batches]
        count = BATCH * batches
        # Neighbours differ by chance and little else, being alike in hand and draw. One loss more
        # than were met: nothing is certain that was only met so far.
        pairs = (BATCH - 1) * batches
        spread = sqrt((differences / 2 + 1) / pairs / count)
        rest = 1 - self.over
        return Estimate(self.score + rest * total / count, rest * spread)


class Spot:
    """One choice, and what its moves came to in play-outs."""

    def __init__(self, player: Player, view: View, longest: int = LONGEST) -> None:
        from random import Random  # imported late: most choices need no play-out

        self._random, self._player = Random, player
        self.hidden = Hidden(player.codes, player.policy, view)
        self._end = self.hidden.choices + longest
        about = view.game.slug, view.game.settings(), view.player, view.observation, view.history
        self._seed = repr(about)
        self._tallies: dict[Move, Tally] = {}

    def measure(self, move: Move, count: int) -> float:
        """The mover's chance to win with a move, from so many play-outs, in whole batches."""
        tally = self._tallies.get(move)
        if tally is None:
            tally = self._tallies[move] = self._tally(move)
        while tally.count < count and not tally.sure:
            # The same for every move, so that what chance does to them is alike.
            random = self._random(f"{self._seed} {tally.count}").random

            def score(place: Place, random: Callable[[], float] = random) -> float:
                return 1 - self._player.play_out(place, self._end, random)

            tally.run(score, random())
        return tally.worth(-(-count // BATCH))

    def _tally(self, move: Move) -> Tally:
        """What the other may hold, having drawn, after a move; those who win then have won."""
        codes, info = self._player.codes, self.hidden.info
        kind, _, worth = codes.row(move) if move != "pass" else (-1, 0, 0)
        if kind not in (DEFEND, SWAP) and worth >= info.other_ci:
            return Tally([], 1.0, 1.0)
        if info.choices + 1 >= self._end:
            return Tally([], 1.0, 0.5)
        places, lost = [], 0.0
        for odd, place in self._replies(move):
            if codes.hand(place[0]).damage >= place[4]:
                lost += odd
            else:
                places.append((odd, place))
        places.sort(key=lambda found: (codes.hand(found[1][0]).damage, found[1]))
        return Tally(places, lost, 0.0)

    def _replies(self, move: Move) -> Iterator[tuple[float, Place]]:
        codes = self._player.codes
        for odd, place in self._moved(move):
            hand, other, discards = place[:3]
            deck = codes.pack - hand - other - discards
            if not deck:
                deck, discards = discards, 0
            left = codes.counts(deck)
            size = sum(left)
            if not size:
                yield odd, place
            for count, card in zip(left, codes.radix, strict=True):
                if count:
                    yield odd * count / size, (hand + card, other, discards, *place[3:])

    def _moved(self, move: Move) -> Iterator[tuple[float, Place]]:
        """The places after a move, before the other draws."""
        codes, info = self._player.codes, self.hidden.info
        kind, played, worth = codes.row(move) if move != "pass" else (-1, 0, 0)
        ci, other_ci, after = info.ci, info.other_ci, info.choices + 1
        own = info.hand - played
        known_own = codes.without(info.known_own, played)
        if kind == DEFEND:
            ci = min(codes.integrity[info.choices & 1], ci + worth)
        elif kind != SWAP:
            other_ci -= worth
        discards = info.discards + (0 if kind == SWAP else played)
        for held, odd in self.hidden.odds.items():
            if kind != SWAP:
                yield odd, (held, own, discards, other_ci, ci, known_own, info.known_other, after)
                continue
            size = len(codes.cards(held))
            for count, card in zip(codes.counts(held), codes.radix, strict=True):
                if count:
                    known_other = codes.without(info.known_other, card) + played
                    yield odd * count / size, (
                        held - card + played, own + card, discards, other_ci, ci,
                        known_own + card, known_other, after,
                    )  # fmt: skip
