"""Statistics of a tournament, per game and overall: the numbers of all reports.

>>> from duels.arena.model import Encounter, GameResult, Setting, Tournament
>>> tournament = Tournament(("ann", "bob"), (Setting("firewall-breach"),), pairs=2, seed=1)
>>> won = [GameResult(0, 0, n // 2, n % 2, 1.0 - n % 2, "rules", 9) for n in range(4)]
>>> found = summary(tournament, [Encounter(0, 0, won)])
>>> found.overall.meetings[0].score.mean, found.games[0].standings[0].player
(1.0, 'ann')
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, sqrt
from typing import NamedTuple

from duels.arena.entrants import LeftOut, left_out
from duels.arena.failures import Reason, failures, reasons
from duels.arena.model import Encounter, Setting, Tournament
from duels.arena.ratings import Rating, rate
from duels.arena.schedule import game_of
from duels.arena.scores import CONFIDENCE, FEW, NOTHING, Moments, Sample, Score, combined, joined
from duels.arena.sprt import KINDS, Verdict, sprt
from duels.core.payoffs import unit_of
from duels.games import find

MOST = 2.0  # largest factor of the estimated luck: a larger one is an artefact of few pairs


class Saving(NamedTuple):
    """The factor by which luck adjustment reduces the games needed, with its 95 % interval."""

    times: float
    low: float
    high: float


class Regret(NamedTuple):
    """Mean regret of a choice, with the half-width of its 95 % interval."""

    mean: float
    half: float
    choices: int


class MeanPayoff(NamedTuple):
    """The mean payoff of a game, with the half-width of its 95 % interval."""

    mean: float
    half: float


class Tally(NamedTuple):
    """Games that a player won, drew and lost."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    def plus(self, other: Tally) -> Tally:
        return Tally(*map(sum, zip(self, other, strict=True)))

    def for_opponent(self) -> Tally:
        return Tally(self.losses, self.draws, self.wins)


BySeat = tuple[Tally, Tally]  # as Player 1, and as Player 2


class Meeting(NamedTuple):
    """The result of two players against each other, in one game or in all; scores of the first."""

    one: str
    two: str
    score: Score
    adjusted: Score | None = None
    saving: Saving | None = None
    sprt: Verdict | None = None
    record: int = 0  # the number of the first game's record
    forfeits: tuple[tuple[Reason, ...], tuple[Reason, ...]] = ((), ())  # of each player
    partly: bool = False  # the adjusted score includes raw scores of unadjusted games
    payoff: MeanPayoff | None = None  # of the first player, where wins pay differently
    seats: BySeat = (Tally(), Tally())
    pentanomial: tuple[int, ...] = (0,) * len(KINDS)  # pairs by the first player's score


class Standing(NamedTuple):
    """The result of a player against all others, in one game or in all."""

    player: str
    score: Score
    rating: Rating
    adjusted: Score | None
    adjusted_rating: Rating | None
    regret: Regret | None
    forfeits: int
    partly: bool = False  # as in `Meeting`
    payoff: MeanPayoff | None = None
    seats: BySeat = (Tally(), Tally())


class Forfeits(NamedTuple):
    """Games that a player lost by forfeit or time in one game, by the numbers of their records."""

    player: str
    game: str
    by: str
    records: tuple[int, ...]
    reasons: tuple[Reason, ...]  # the most frequent first


class SummaryPart(NamedTuple):
    """One game of a tournament, or all of them."""

    title: str
    setting: Setting | None  # None: all games
    standings: tuple[Standing, ...]  # the best first
    meetings: tuple[Meeting, ...]
    approximate: bool  # regrets are not exact


class Summary(NamedTuple):
    tournament: Tournament
    games: tuple[SummaryPart, ...]
    overall: SummaryPart
    forfeits: tuple[Forfeits, ...]
    played: int
    left_out: tuple[LeftOut, ...] = ()


class PairingStatistics:
    """Statistics of one pairing in one game."""

    def __init__(self, tournament: Tournament, found: Encounter) -> None:
        self.game, self.pairing = found.game, found.pairing
        self.names = tuple(
            tournament.players[index] for index in tournament.pairings[found.pairing]
        )
        self.games = len(found.results)
        self.record = tournament.number(found.results[0])
        scores = found.pair_scores()
        self.raw = Sample.of(scores)
        self.scored = max(scores) > 0, min(scores) < 1  # whether each player scored anything
        self.pentanomial = tuple(map(scores.count, KINDS))
        own = [[game.first_score for game in found.results[seat::2]] for seat in (0, 1)]
        self.seats: BySeat = tally(own[0]), tally(own[1])
        self.sprt = None if tournament.sprt is None else sprt(scores, *tournament.sprt)
        known, rest = [], []
        for score, one, two in zip(scores, found.results[::2], found.results[1::2], strict=True):
            if one.first_adjusted is None or two.first_adjusted is None:
                rest.append(score)
            else:
                known.append((score, (one.first_adjusted + two.first_adjusted) / 2))
        paid = [game.first_payoff for game in found.results]
        rules = game_of(tournament.games[found.game])
        self.pays = unit_of(rules).pays and None not in paid
        self.payoff = Moments.of(
            (one + two) / 2
            for one, two in zip(paid[::2], paid[1::2], strict=True)
            if one is not None and two is not None
        )
        self.saving: Saving | None = None
        self.best = self.raw  # luck-adjusted if enough pairs are
        if len(known) >= 2 * FEW:
            before, without = [score for score, _ in known], scaled(known)
            self.saving = saved(before, without)
            self.best = Sample.adjusted(without, before)
            if rest:
                self.best = combined(self.best, Sample.of(rest), self.raw)
        self.regret = Ratio(), Ratio()  # by player
        self.failed: dict[
            tuple[str, str], list[tuple[int, str]]
        ] = {}  # by player and kind of failure
        for game in found.results:
            if game.regret is not None and game.graded is not None:
                for side, ratio in enumerate(self.regret):
                    ratio.add(game.regret[side ^ game.seat], game.graded[side ^ game.seat])
            for seat, why in failures(game):
                key = self.names[seat ^ game.seat], game.by
                self.failed.setdefault(key, []).append((tournament.number(game), why))


def tally(scores: Sequence[float]) -> Tally:
    return Tally(scores.count(1.0), scores.count(0.5), scores.count(0.0))


class Ratio:
    """An amount per choice, summed over games."""

    def __init__(self) -> None:
        self.total = self.count = self.squares = self.mixed = self.counts = 0.0

    def add(self, amount: float, count: int) -> None:
        self.total += amount
        self.count += count
        self.squares += amount * amount
        self.mixed += amount * count
        self.counts += count * count

    def __iadd__(self, other: Ratio) -> Ratio:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    def regret(self) -> Regret | None:
        if not self.count:
            return None
        mean = self.total / self.count
        # A game is the unit: its choices depend on each other.
        spread = self.squares - 2 * mean * self.mixed + mean * mean * self.counts
        return Regret(mean, CONFIDENCE * sqrt(max(0.0, spread)) / self.count, int(self.count))


def scaled(known: Sequence[tuple[float, float]]) -> list[float]:
    """Scores less the share of the estimated luck that minimises their variance.

    With an accurate value function the share is 1. With an inaccurate one the full correction would
    add noise, so the share is estimated from the data: for each pair from all others, so that the
    mean stays unbiased.
    """
    scores, lucks = Moments.of(s for s, _ in known), Moments.of(s - a for s, a in known)
    parts = [(s - scores.mean, s - a - lucks.mean) for s, a in known]
    both, spread = sum(s * luck for s, luck in parts), sum(luck * luck for _, luck in parts)
    others = len(known) - 1
    grow = 1 + 1 / others  # the means of the others are not those of all

    def share(score: float, luck: float) -> float:
        left = spread - grow * luck * luck
        if left <= others * NOTHING:
            return 1.0
        return min(MOST, max(0.0, (both - grow * score * luck) / left))

    return [s - share(*part) * (s - a) for (s, a), part in zip(known, parts, strict=True)]


def saved(raw: Sequence[float], without: Sequence[float]) -> Saving | None:
    """The ratio of two variances of the same pairs; None if it is not meaningful."""
    one, two = Moments.of(raw), Moments.of(without)
    if one.size < FEW or one.variance <= NOTHING or two.variance <= NOTHING:
        return None
    # Delta method: the contribution of each pair to the logarithm of the ratio.
    adds = Moments.of(
        (r - one.mean) ** 2 / one.variance - (a - two.mean) ** 2 / two.variance
        for r, a in zip(raw, without, strict=True)
    )
    ratio, half = one.variance / two.variance, CONFIDENCE * adds.error
    return Saving(ratio, ratio * exp(-half), ratio * exp(half))


def summary(tournament: Tournament, encounters: Iterable[Encounter]) -> Summary:
    """The statistics of encounters, which are read once and in any order."""
    sums = [PairingStatistics(tournament, found) for found in encounters if found.results]
    sums.sort(key=lambda entry: (entry.game, entry.pairing))
    games = []
    for number, setting in enumerate(tournament.games):
        some = [entry for entry in sums if entry.game == number]
        if some:
            games.append(_part(tournament, some, setting))
    failed: dict[tuple[str, int, str], list[tuple[int, str]]] = {}
    for entry in sums:
        for (name, by), records in entry.failed.items():
            failed.setdefault((name, entry.game, by), []).extend(records)
    forfeits = tuple(
        Forfeits(
            name, tournament.games[game].slug, by, tuple(sorted(number for number, _ in records)),
            reasons(why for _, why in records),
        )
        for (name, game, by), records in sorted(failed.items())
    )  # fmt: skip
    return Summary(
        tournament, tuple(games), _part(tournament, sums, None), forfeits,
        sum(entry.games for entry in sums), left_out(tournament),
    )  # fmt: skip


def _part(
    tournament: Tournament, sums: Sequence[PairingStatistics], setting: Setting | None
) -> SummaryPart:
    by_pairing: dict[tuple[str, ...], list[PairingStatistics]] = {}
    for entry in sums:
        by_pairing.setdefault(entry.names, []).append(entry)
    meetings: list[Meeting] = []
    raw: dict[tuple[str, str], Moments] = {}
    rated: dict[tuple[str, str], Moments] = {}
    scored: dict[tuple[str, str], tuple[bool, bool]] = {}
    for (one, two), some in by_pairing.items():
        score, adjusted, partly = scores([(entry, 0) for entry in some])
        sample = joined([(entry.raw.pairs, entry.raw) for entry in some])
        error = sqrt(sample.variance / sample.pairs)
        raw[one, two] = Moments.from_mean(score.pairs, score.mean, error)
        best = adjusted or score
        rated[one, two] = Moments.from_mean(score.pairs, best.mean, best.error)
        first, second = zip(*(entry.scored for entry in some), strict=True)
        scored[one, two] = any(first), any(second)
        saving, test = (some[0].saving, some[0].sprt) if setting is not None else (None, None)
        meetings.append(Meeting(
            one, two, score, adjusted, saving, test, some[0].record,
            (_reasons(some, one), _reasons(some, two)), partly,
            mean_payoff([(entry, 0) for entry in some]), by_seat([(entry, 0) for entry in some]),
            tuple(map(sum, zip(*(entry.pentanomial for entry in some), strict=True))),
        ))  # fmt: skip
    ratings = {rating.player: rating for rating in rate(raw)}
    without = {}
    if any(entry.best.known for entry in sums):
        without = {rating.player: rating for rating in rate(rated, scored)}
    order = without or ratings
    standings = [_standing(name, sums, ratings, without) for name in order]
    title = "All games" if setting is None else find(setting.slug).title
    approximate = any(
        _approximate(tournament.games[game]) for game in {entry.game for entry in sums}
    )
    return SummaryPart(title, setting, tuple(standings), tuple(meetings), approximate)


def _reasons(sums: Sequence[PairingStatistics], name: str) -> tuple[Reason, ...]:
    """The reasons of a player's failures in some encounters."""
    return reasons(
        why
        for entry in sums
        for (who, _), failed in entry.failed.items()
        if who == name
        for _, why in failed
    )


def _standing(
    name: str,
    sums: Sequence[PairingStatistics],
    ratings: dict[str, Rating],
    without: dict[str, Rating],
) -> Standing:
    own = [(entry, entry.names.index(name)) for entry in sums if name in entry.names]
    regret, failed = Ratio(), 0
    for entry, side in own:
        regret += entry.regret[side]
        failed += sum(len(games) for (who, _), games in entry.failed.items() if who == name)
    score, adjusted, partly = scores(own)
    return Standing(
        name,
        score,
        ratings[name],
        adjusted,
        without.get(name),
        regret.regret(),
        failed,
        partly,
        mean_payoff(own),
        by_seat(own),
    )


def by_seat(parts: Sequence[tuple[PairingStatistics, int]]) -> BySeat:
    """The games of the player on the given side of some meetings."""
    one = two = Tally()
    for entry, side in parts:
        first, second = entry.seats
        if side:
            first, second = second.for_opponent(), first.for_opponent()
        one, two = one.plus(first), two.plus(second)
    return one, two


def mean_payoff(parts: Sequence[tuple[PairingStatistics, int]]) -> MeanPayoff | None:
    """The mean payoff over several meetings, weighted by pairs; None where every win pays 1."""
    if not any(entry.pays for entry, _ in parts):
        return None
    pairs = sum(entry.payoff.size for entry, _ in parts)
    total = sum(
        entry.payoff.size * (-entry.payoff.mean if side else entry.payoff.mean)
        for entry, side in parts
    )
    error = sqrt(sum((entry.payoff.size * entry.payoff.error) ** 2 for entry, _ in parts))
    return MeanPayoff(total / pairs, CONFIDENCE * error / pairs)


def scores(parts: Sequence[tuple[PairingStatistics, int]]) -> tuple[Score, Score | None, bool]:
    """The score over several meetings, weighted by pairs, of the player on the given side of each.

    Also the adjusted score, None if no meeting is adjusted, and whether only some meetings are.
    """

    def over(kind: str) -> Sample:
        samples = [(entry.raw.pairs, getattr(entry, kind), side) for entry, side in parts]
        return joined(
            [(pairs, part.for_opponent() if side else part) for pairs, part, side in samples]
        )

    known = [entry.best.known for entry, _ in parts]
    adjusted = over("best").score() if any(known) else None
    return over("raw").score(), adjusted, any(known) and not all(known)


def _approximate(setting: Setting) -> bool:
    """Whether the solution of a game is approximate."""
    from duels.algorithms.solutions import solver_of

    return solver_of(find(setting.slug)(**dict(setting.options))).approximate
