"""A tournament's results as text, CSV and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from math import inf, isfinite
from textwrap import wrap
from typing import Any

from duels.arena.entrants import left_out_lines
from duels.arena.failures import Reason
from duels.arena.model import DISQUALIFIED
from duels.arena.ratings import Rating
from duels.arena.scores import Score
from duels.arena.sprt import CONTINUE, Verdict
from duels.arena.summary import (
    Forfeits,
    MeanPayoff,
    Meeting,
    Regret,
    Saving,
    Standing,
    Summary,
    SummaryPart,
    Tally,
)

NAME, HALF = 15, 8  # columns of a name at most, alone and in a pairing
LEAST = 4  # columns of a name at least, even if the line gets too long
SHOWN = 5  # record numbers in a line
WIDTH = 80  # columns of a line
BY = {
    "forfeit": "by forfeit",
    "time": "on time",
    DISQUALIFIED: "without play, after disqualification,",
}
FIELDS = (
    "game", "options", "one", "two", "pairs", "score", "low", "high", "superior",
    "adjusted", "adjusted_low", "adjusted_high", "adjusted_superior", "adjusted_pairs",
    "saving", "saving_low", "saving_high", "sprt", "llr", "sprt_pairs", "record",
    "one_forfeits", "one_reasons", "two_forfeits", "two_reasons", "payoff", "payoff_half",
    "wins_1", "draws_1", "losses_1", "wins_2", "draws_2", "losses_2",
    "pairs_0", "pairs_0.25", "pairs_0.5", "pairs_0.75", "pairs_1",
)  # fmt: skip
RAW = "raw only"  # shown instead of a luck-adjusted score
PARTLY = "* 'no luck' includes the raw scores of games whose luck is not known."
APPROXIMATE = "In a game solved approximately, only choices with stored values have a regret."
ELO = "Elo is relative to the mean of all players; intervals are 95 %, from pairs."
LUCK = "'score' is raw; 'no luck' has luck taken out (AIVAT): the same mean, less noise."
FEWER = "'fewer' is how many times fewer games are then needed for the same interval."
PAID = "'payoff' is the mean payoff; scores and Elo count all wins alike."
SUPERIOR = "'superior' is how likely the first of two players is the stronger one."
SEATS = "'as Player 1' counts the first player's wins, draws and losses in that seat."
KINDS_OF_PAIRS = "'pairs' counts pairs in which it scored 0, 1/4, 1/2, 3/4 and 1 (pentanomial)."


def text(found: Summary, *, ascii_only: bool = False) -> list[str]:
    """The report for a terminal, 80 columns wide."""
    if not found.overall.standings:
        return ["No pair of games is finished."]
    tournament = found.tournament
    count = len(tournament.games)
    lines = [
        f"{len(tournament.players)} players, {count} game{'' if count == 1 else 's'}, "
        f"{found.played:,} games in pairs, {tournament.described()}"
    ]
    parts = [*found.games, found.overall] if count > 1 else [*found.games]
    names = tournament.players
    for part in parts:
        lines += ["", *_part(part, names)]
    lines += [line for failed in found.forfeits for line in ("", *_forfeited(failed, names))]
    lines += _left_out(found)
    if tournament.sprt is not None:
        low, high = (f"the first is {elo:g} Elo stronger" for elo in tournament.sprt)
        lines += ["", f"SPRT: H0, {low}; H1, {high}."]
    luck = any(standing.adjusted for part in parts for standing in part.standings)
    lines += ["", *notes(parts, luck)]
    if ascii_only:
        return [line.encode("ascii", "replace").decode() for line in lines]
    return lines


def notes(parts: Sequence[SummaryPart], luck: bool) -> list[str]:
    """Explanations of the columns of these tables; `luck`: whether 'no luck' is one of them."""
    fewer = any(meeting.saving for part in parts for meeting in part.meetings)
    paid = any(meeting.payoff for part in parts for meeting in part.meetings)
    return [
        ELO, *([LUCK] if luck else []), *([FEWER] if fewer else []), SUPERIOR,
        *([PAID] if paid else []), SEATS, KINDS_OF_PAIRS,
    ]  # fmt: skip


def _part(part: SummaryPart, players: Sequence[str]) -> Iterator[str]:
    options = "" if part.setting is None else options_text(part)
    yield f"=== {part.title}{' (' + options + ')' if options else ''} ==="
    without = any(standing.adjusted for standing in part.standings)
    graded = any(standing.regret for standing in part.standings)
    head = [f"{'Elo':>5}", "interval", "score"]
    head += [*(["no luck"] if without else []), *(["regret"] if graded else [])]
    pays = any(standing.payoff for standing in part.standings)
    head += ["payoff"] if pays else []
    rows = []
    for standing in part.standings:
        rating = standing.adjusted_rating or standing.rating
        cells = [f"{rating.elo:>+5.0f}", interval(rating), brief(standing.score)]
        cells += [brief(standing.adjusted, standing.partly) or RAW] if without else []
        cells += [regretted(standing.regret)] if graded else []
        cells += [paid(standing.payoff)] if pays else []
        rows.append(([standing.player], cells))
    yield from _table(head, rows, NAME, players)
    ratings = [standing.adjusted_rating or standing.rating for standing in part.standings]
    groups = len({rating.group for rating in ratings})
    if groups > 1:
        yield f"{groups} groups of players never met: Elo is not comparable between them."
    if any(rating.high == inf or rating.low == -inf for rating in ratings):
        yield "'open': the player won, or lost, every game; the rating has no limit on that side."
    if part.approximate and graded:
        yield APPROXIMATE
    yield ""
    saved = any(meeting.saving for meeting in part.meetings)
    head = [f"{'pairs':>7}", "score", *(["no luck"] if without else []), "superior"]
    head += [*(["fewer"] if saved else []), *(["payoff"] if pays else [])]
    rows = []
    for meeting in part.meetings:
        best = meeting.adjusted or meeting.score
        cells = [f"{meeting.score.pairs:>7,}", brief(meeting.score)]
        cells += [brief(meeting.adjusted, meeting.partly) or RAW] if without else []
        cells += [f"{percent(best.superior):>8}"]
        cells += [f"{times(meeting.saving):>5}"] if saved else []
        cells += [paid(meeting.payoff)] if pays else []
        rows.append(([meeting.one, meeting.two], cells))
    yield from _table(head, rows, HALF, players)
    yield ""
    head = ["as Player 1", "as Player 2", "pairs: 0, 1/4, 1/2, 3/4, 1"]
    rows = [
        ([meeting.one, meeting.two], [*map(counted, meeting.seats), spaced(meeting.pentanomial)])
        for meeting in part.meetings
    ]
    yield from _table(head, rows, HALF, players)
    if any(standing.partly for standing in part.standings):
        yield PARTLY
    for meeting in part.meetings:
        if meeting.sprt is not None:
            yield f"SPRT {_pair(meeting, players)}: {decided(meeting.sprt)}"


def _forfeited(failed: Forfeits, players: Sequence[str]) -> Iterator[str]:
    """How many games a player lost by failures, and the reasons."""
    count, how = len(failed.records), BY.get(failed.by, f"by {failed.by}")
    lost = f"lost {count:,} game{'' if count == 1 else 's'} {how} in {failed.game}"
    yield f"{shortened(players)[failed.player]} {lost}:"
    for why, games in failed.reasons:
        yield from wrap(f"{games:,} x {printed(why)}", WIDTH, initial_indent="  ",
                        subsequent_indent="    ")  # fmt: skip
    records = ", ".join(f"#{number}" for number in failed.records[:SHOWN])
    yield f"  records {records}{', ...' if len(failed.records) > SHOWN else ''}"


def _left_out(found: Summary) -> Iterator[str]:
    """The games that players do not play, with the meetings left out."""
    if found.left_out:
        yield ""
    for who, what in left_out_lines(found.left_out):
        yield f"{shortened(found.tournament.players)[who]} {what}"


def printed(text: str) -> str:
    """Text without control characters."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _table(
    head: Sequence[str],
    rows: Sequence[tuple[Sequence[str], Sequence[str]]],
    most: int,
    players: Sequence[str],
) -> Iterator[str]:
    """A table under a header; names are shortened if a line would be too long."""
    every = [head, *(cells for _, cells in rows)]
    wide = [max(map(len, column)) for column in zip(*every, strict=True)]
    count = len(rows[0][0])
    left = WIDTH - sum(wide) - 2 * len(wide) - 3 * (count - 1)
    most = min(most, max(LEAST, left // count))
    brief = shortened(players, most)
    names = [" - ".join(brief[name] for name in some) for some, _ in rows]
    first = max(map(len, names))
    for name, cells in zip(["", *names], every, strict=True):
        padded = (f"{cell:<{size}}" for cell, size in zip(cells, wide, strict=True))
        yield "  ".join([f"{name:<{first}}", *padded]).rstrip()


def _pair(meeting: Meeting, players: Sequence[str]) -> str:
    brief = shortened(players, HALF)
    return f"{brief[meeting.one]} - {brief[meeting.two]}"


def options_text(part: SummaryPart) -> str:
    """The non-default options of a game."""
    return "" if part.setting is None else ", ".join(f"{n}={v}" for n, v in part.setting.options)


def shortened(names: Sequence[str], most: int = NAME) -> dict[str, str]:
    """The names in at most `most` columns, all different: of long ones the part that differs.

    That is the end or, where several names end alike, what stands before the common end. Where
    that does not suffice, a number is appended.

    >>> shortened(["greedy", "python3 bots/old.py"])
    {'greedy': 'greedy', 'python3 bots/old.py': '... bots/old.py'}
    >>> list(shortened(["node old/main.js --fast", "node new/main.js --fast"], 12).values())
    ['node old...', 'node new...']
    """
    ends = {name: _end(printed(name), most) for name in names}
    found: dict[str, str] = {}
    for name in names:
        same = [printed(other) for other in names if ends[other] == ends[name]]
        text, common = printed(name), _common_end(same) if len(same) > 1 else 0
        short = ends[name] if not common else _end(text[: len(text) - common], most - 3) + "..."
        number = 1
        while short in found.values() or (short in ends.values() and short != ends[name]):
            number += 1
            short = f"{_end(text, most - len(str(number)) - 1)}~{number}"
        found[name] = short
    return found


def _end(text: str, most: int) -> str:
    return text if len(text) <= most else "..." + text[max(0, len(text) - most + 3) :]


def _common_end(texts: Sequence[str]) -> int:
    """The number of characters at the end that all texts share."""
    columns = zip(*(text[::-1] for text in texts), strict=False)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def interval(rating: Rating) -> str:
    """A rating's interval; a side without a limit is open.

    >>> interval(Rating("a", 10, -20.4, inf, 9, 5, 0))
    '[-20, open)'
    """
    low = f"[{rating.low:+.0f}" if isfinite(rating.low) else "(open"
    high = f"{rating.high:+.0f}]" if isfinite(rating.high) else "open)"
    return f"{low}, {high}"


def scored(score: Score | None, partly: bool = False) -> str:
    """A score with its interval, clipped to 0 and 1, with decimals by the interval's width.

    >>> scored(Score(0.51234, 0.5, 0.525, 400, 0.9)), scored(Score(0.5, 0.4998, 0.5002, 9999, 0.5))
    ('0.512 (0.500-0.525)', '0.5000 (0.4998-0.5002)')
    >>> scored(Score(1.02, 0.97, 1.07, 40, 0.99), partly=True), scored(None)
    ('1.000 (0.970-1.000)*', '')
    """
    if score is None:
        return ""
    mean, low, high = _numerals(score)
    return f"{mean} ({low}-{high}){'*' if partly else ''}"


def brief(score: Score | None, partly: bool = False) -> str:
    """`scored` in fewer columns.

    >>> brief(Score(0.51234, 0.5, 0.525, 400, 0.9)), brief(Score(1.0, 0.69, 1.0, 10, 0.99), True)
    ('0.512 .500-.525', '1.000 .690-1.00*')
    """
    if score is None:
        return ""
    mean, *limits = _numerals(score)
    low, high = (part[1:] if part[0] == "0" else part[:-1] for part in limits)
    return f"{mean} {low}-{high}{'*' if partly else ''}"


def _numerals(score: Score) -> tuple[str, str, str]:
    places = 3 if score.high - score.low >= 0.002 else 4
    mean, low, high = (f"{within(part):.{places}f}" for part in score[:3])
    return mean, low, high


def within(mean: float) -> float:
    """An adjusted score clipped to 0 and 1 for display."""
    return min(1.0, max(0.0, mean))


def percent(part: float) -> str:
    """A probability, never shown as certain.

    >>> percent(0.5), percent(0.99999), percent(1e-9)
    ('50.0 %', '>99.9 %', '<0.1 %')
    """
    return "<0.1 %" if part < 0.001 else ">99.9 %" if part > 0.999 else f"{100 * part:.1f} %"


def decided(test: Verdict) -> str:
    """The state of a sequential test."""
    state = "not decided" if test.state == CONTINUE else f"{test.state} after {test.pairs:,} pairs"
    return f"{state}, LLR {test.llr:+.2f}"


def regretted(regret: Regret | None) -> str:
    return "-" if regret is None else f"{regret.mean:.4f}"


def paid(payoff: MeanPayoff | None) -> str:
    """A mean payoff; its interval is in the files.

    >>> paid(MeanPayoff(-0.0856, 0.01)), paid(None)
    ('-0.086', '-')
    """
    return "-" if payoff is None else f"{payoff.mean:+.3f}"


def times(saving: Saving | None) -> str:
    if saving is None:
        return "-"
    return f"{saving.times:.1f}x" if saving.times < 100 else f"{min(saving.times, 99999):.0f}x"


def counted(games: Tally) -> str:
    """Games won, drawn and lost.

    >>> counted(Tally(12, 0, 3))
    '12-0-3'
    """
    return f"{games.wins}-{games.draws}-{games.losses}"


def spaced(pentanomial: Sequence[int]) -> str:
    return "  ".join(map(str, pentanomial))


def csv(found: Summary) -> str:
    """A line for every pairing in every game, and with an empty game for all games together."""
    from csv import writer
    from io import StringIO

    out = StringIO()
    rows = writer(out, lineterminator="\n")
    rows.writerow(FIELDS)
    for part in (*found.games, found.overall):
        slug = "" if part.setting is None else part.setting.slug
        for meeting in part.meetings:
            adjusted, saving, test = meeting.adjusted, meeting.saving, meeting.sprt
            rows.writerow([
                slug, options_text(part), guarded(meeting.one), guarded(meeting.two),
                meeting.score.pairs, *_numbers(meeting.score, 4),
                *_numbers(adjusted, 4), "" if adjusted is None else adjusted.pairs,
                *_numbers(saving, 3),
                *(("", "", "") if test is None else (test.state, test.llr, test.pairs)),
                meeting.record, *_lost(meeting.forfeits[0]), *_lost(meeting.forfeits[1]),
                *_numbers(meeting.payoff, 2), *meeting.seats[0], *meeting.seats[1],
                *meeting.pentanomial,
            ])  # fmt: skip
    return out.getvalue()


def _lost(reasons: Sequence[Reason]) -> tuple[int, str]:
    """The number of forfeited games, and the reasons."""
    why = "; ".join(f"{games} x {printed(why)}" for why, games in reasons)
    return sum(games for _, games in reasons), why


def guarded(name: str) -> str:
    """A name that spreadsheets do not interpret as a formula."""
    return f"'{name}" if name[:1] in ("=", "+", "-", "@", "\t", "\r") else name


def _numbers(found: Sequence[Any] | None, count: int) -> list[Any]:
    if isinstance(found, Score):
        return [found.mean, found.low, found.high, found.superior]
    return [""] * count if found is None else list(found)


def to_json(found: Summary) -> dict[str, Any]:
    """The report as JSON values; an infinite limit is null."""
    return {
        "tournament": found.tournament.to_json(),
        "played": found.played,
        "games": [_part_json(part) for part in found.games],
        "overall": _part_json(found.overall),
        "forfeits": [
            failed._asdict()
            | {"records": [*failed.records], "reasons": [_to_plain(one) for one in failed.reasons]}
            for failed in found.forfeits
        ],
        "left_out": [one._asdict() for one in found.left_out],
    }


def _part_json(part: SummaryPart) -> dict[str, Any]:
    setting = part.setting
    return {
        "game": None if setting is None else setting.slug,
        "options": {} if setting is None else dict(setting.options),
        "approximate": part.approximate,
        "standings": [_row(standing) for standing in part.standings],
        "meetings": [_row(meeting) for meeting in part.meetings],
    }


def _row(found: Standing | Meeting) -> dict[str, Any]:
    """A row of a table; without `payoff` where every win pays 1."""
    return {
        name: _to_plain(value)
        for name, value in found._asdict().items()
        if name != "payoff" or value is not None
    }


def _to_plain(value: Any) -> Any:
    if hasattr(value, "_asdict"):
        return {name: _to_plain(part) for name, part in value._asdict().items()}
    if isinstance(value, tuple):
        return [_to_plain(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value
