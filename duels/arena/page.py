"""Self-contained HTML report of a tournament's results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, isfinite

from duels.analysis.page import STYLE
from duels.arena.entrants import left_out_lines
from duels.arena.ratings import Rating
from duels.arena.report import (
    APPROXIMATE,
    PARTLY,
    RAW,
    counted,
    decided,
    interval,
    notes,
    options_text,
    paid,
    percent,
    printed,
    regretted,
    scored,
    shortened,
    spaced,
    times,
    within,
)
from duels.arena.summary import Meeting, Standing, Summary, SummaryPart

WIDTH, ROW, LEFT, RIGHT = 800, 34, 20, 20  # of the rating chart
LONG = 36  # characters of a name in the chart
SHORT = 24  # characters of a name in a table
STEPS = (10, 20, 50, 100, 200, 500, 1000, 2000)  # of the chart's axis, in Elo
SHOWN = 20  # record numbers listed for one kind of failure
MORE = """
:root { --good: #1b6e2c; } @media (prefers-color-scheme: dark) { :root { --good: #7bd88f; } }
body { max-width: 64rem; } h2 { margin-top: 2.5rem; } .wide { margin-bottom: 1.2rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.name, th.name { max-width: 16rem; white-space: normal; overflow-wrap: anywhere;
  position: sticky; left: 0; background: var(--back); }
td.why { white-space: normal; min-width: 16rem; }
td.own { background: var(--line); } .ahead { color: var(--good); }
.behind { color: var(--blunder); } .raw { stroke: var(--text); opacity: .25; }
.mark { fill: var(--curve); } .note, code { font-size: .9rem; }
nav a { margin-right: 1rem; } a { color: var(--curve); } .rating text { font-size: 15px; }
@media (max-width: 30rem) { .rating text { font-size: 30px; }
  td.name, th.name { max-width: 9rem; } body { padding: 0 .7rem; } }"""


def page(found: Summary) -> str:
    """The whole page, without scripts or external resources; the same games give the same page."""
    tournament = found.tournament
    players = len(tournament.players)
    parts = [found.overall, *found.games] if len(found.games) > 1 else [*found.games]
    links = "".join(f'<a href="#part{n}">{_safe(part.title)}</a>' for n, part in enumerate(parts))
    below = "".join(f"<p class='note'>{_safe(note)}</p>" for note in notes(parts, luck=True))
    body = "".join(_part(part, n, tournament.players) for n, part in enumerate(parts))
    if not parts:
        body = "<p>No pair of games is finished.</p>"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Arena: results</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
{STYLE}{MORE}
</style></head><body>
<h1>Arena</h1>
<p>{players} players, {found.played:,} games in pairs with seats swapped,
{tournament.described()}.</p>
<nav>{links}</nav>
{body}{_regrets(found)}{_forfeits(found)}{_left_out(found)}<h2>What the numbers mean</h2>
{below}
<p class='note'>Any game can be seen again: <code>duels replay DIR#NUMBER</code>, where DIR is the
folder of this tournament; <code>analyse</code> and <code>verify</code> take it too.</p>
</body></html>
"""


def _safe(text: str) -> str:
    return escape(printed(text).replace("+-", "±")).replace("±", "&plusmn;")


def _part(part: SummaryPart, number: int, players: Sequence[str]) -> str:
    options = options_text(part)
    approximate = ""
    if part.approximate and any(standing.regret for standing in part.standings):
        approximate = f"<p class='note'>{APPROXIMATE}</p>"
    names = shortened(players, SHORT)
    ratings = [standing.adjusted_rating or standing.rating for standing in part.standings]
    groups = len({rating.group for rating in ratings})
    apart = (
        f"<p class='note'>{groups} groups of players never met: Elo is not comparable between "
        "them.</p>"
        if groups > 1
        else ""
    )
    mixed = any(standing.partly for standing in part.standings)
    partly = f"<p class='note'>{_safe(PARTLY)}</p>" if mixed else ""
    return f"""<h2 id="part{number}">{_safe(part.title)}</h2>
{f"<p>{_safe(options)}</p>" if options else ""}
{drawn(part.standings)}
{_standings(part)}{apart}{approximate}
<h3>Who met whom</h3>
{_cross(part, names)}
{_meetings(part, names)}{partly}
"""


def _table(label: str, head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table of HTML cells; the text before the first `|` of a cell is its CSS class."""

    def cell(kind: str, text: str) -> str:
        style, _, shown = text.partition("|")
        return f"<{kind} class='{style}'>{shown}</{kind}>" if style else f"<{kind}>{shown}</{kind}>"

    top = "".join(cell("th", text) for text in head)
    body = "\n".join("<tr>" + "".join(cell("td", t) for t in row) + "</tr>" for row in rows)
    return (
        f'<div class="wide" role="region" aria-label="{escape(label)}" tabindex="0">\n'
        f"<table><thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody></table></div>\n"
    )


def _name(shown: Mapping[str, str], *names: str) -> str:
    title, text = (" - ".join(some) for some in (names, map(shown.__getitem__, names)))
    return f"name|<span title='{_safe(title)}'>{_safe(text)}</span>"


def _number(text: str) -> str:
    return f"number|{_safe(text)}"


def _standings(part: SummaryPart) -> str:
    """The standings, with whole names; other tables have them shortened."""
    head = ["name|player", *(f"number|{word}" for word in (
        "Elo", "interval", "score", "no luck", "as Player 1", "as Player 2", "regret per choice",
        "forfeits"))]  # fmt: skip
    pays = any(standing.payoff for standing in part.standings)
    head += ["number|payoff"] if pays else []
    rows = []
    for standing in part.standings:
        rating = standing.adjusted_rating or standing.rating
        cells = (
            f"{rating.elo:+.0f}", interval(rating), scored(standing.score),
            scored(standing.adjusted, standing.partly) or RAW, *map(counted, standing.seats),
            _regret(standing),
            str(standing.forfeits or ""), *([_payoff(standing)] if pays else []),
        )  # fmt: skip
        rows.append([f"name|{_safe(standing.player)}", *map(_number, cells)])
    return _table(f"Standings, {part.title}", head, rows)


def _regret(standing: Standing) -> str:
    if standing.regret is None:
        return "-"
    return f"{regretted(standing.regret)} +- {standing.regret.half:.4f}"


def _payoff(found: Standing | Meeting) -> str:
    half = "" if found.payoff is None else f" +- {found.payoff.half:.3f}"
    return f"{paid(found.payoff)}{half}"


def _cross(part: SummaryPart, shown: Mapping[str, str]) -> str:
    """Cross table of luck-adjusted scores; raw scores are marked."""
    names = [standing.player for standing in part.standings]
    without = any(meeting.adjusted for meeting in part.meetings)
    found: dict[tuple[str, str], tuple[float, float, str]] = {}
    for meeting in part.meetings:
        best = meeting.adjusted or meeting.score
        mark = "*" if meeting.partly else " raw" if without and not meeting.adjusted else ""
        mean = within(best.mean)
        found[meeting.one, meeting.two] = mean, best.superior, mark
        found[meeting.two, meeting.one] = 1 - mean, 1 - best.superior, mark
    head = ["name|", *(f"number|{n + 1}" for n in range(len(names)))]
    rows = []
    for number, one in enumerate(names):
        cells = [f"name|{number + 1}. <span title='{_safe(one)}'>{_safe(shown[one])}</span>"]
        for two in names:
            if one == two:
                cells.append("own|")
            elif (one, two) not in found:
                cells.append("number|")
            else:
                mean, superior, mark = found[one, two]
                style = "ahead" if superior > 0.975 else "behind" if superior < 0.025 else ""
                cells.append(f"number {style}|{mean:.3f}{mark}")
        rows.append(cells)
    return _table(f"Cross table, {part.title}", head, rows)


def _meetings(part: SummaryPart, shown: Mapping[str, str]) -> str:
    tested = any(meeting.sprt for meeting in part.meetings)
    saved = any(meeting.saving for meeting in part.meetings)
    words = ["pairs", "score", "no luck", "superior", "as Player 1", "as Player 2"]
    words += ["pairs: 0, 1/4, 1/2, 3/4, 1"]
    pays = any(meeting.payoff for meeting in part.meetings)
    words += [
        *(["fewer games"] if saved else []), *(["SPRT"] if tested else []),
        *(["payoff"] if pays else []),
    ]  # fmt: skip
    head = ["name|", *(f"number|{word}" for word in words), *(["number|record"])]
    rows = []
    for meeting in part.meetings:
        best = meeting.adjusted or meeting.score
        cells = [
            f"{meeting.score.pairs:,}", scored(meeting.score),
            scored(meeting.adjusted, meeting.partly) or RAW, percent(best.superior),
            *map(counted, meeting.seats), spaced(meeting.pentanomial),
            *([_saving(meeting)] if saved else []),
            *([decided(meeting.sprt) if meeting.sprt else ""] if tested else []),
            *([_payoff(meeting)] if pays else []),
        ]  # fmt: skip
        pair = _name(shown, meeting.one, meeting.two)
        rows.append([pair, *map(_number, cells), f"number|<code>#{meeting.record}</code>"])
    return _table(f"Meetings, {part.title}", head, rows)


def _saving(meeting: Meeting) -> str:
    if meeting.saving is None:
        return "-"
    low, high = meeting.saving.low, meeting.saving.high
    return f"{times(meeting.saving)} [{low:.1f}, {high:.1f}]"


def _regrets(found: Summary) -> str:
    """Every player's regret per choice, game by game."""
    games = [part for part in found.games if any(standing.regret for standing in part.standings)]
    if len(games) < 2:
        return ""
    shown = shortened(found.tournament.players, SHORT)
    said = {(s.player, number): s for number, part in enumerate(games) for s in part.standings}
    rows = [
        [_name(shown, standing.player), *(
            _number(_regret(said[standing.player, number]))
            if (standing.player, number) in said else "number|"
            for number in range(len(games))
        )]
        for standing in found.overall.standings
    ]  # fmt: skip
    titles = [f"number|{_safe(part.title)}{' *' if part.approximate else ''}" for part in games]
    star = "<p class='note'>* approximate</p>" if any(part.approximate for part in games) else ""
    return (
        "<h2>Regret per choice by game</h2>\n" + _table("Regret", ["name|", *titles], rows) + star
    )


def _forfeits(found: Summary) -> str:
    if not found.forfeits:
        return ""
    rows, shown = [], shortened(found.tournament.players, SHORT)
    for failed in found.forfeits:
        numbers = " ".join(f"<code>#{number}</code>" for number in failed.records[:SHOWN])
        more = " ..." if len(failed.records) > SHOWN else ""
        reasons = "<br>".join(f"{games:,} &times; {_safe(why)}" for why, games in failed.reasons)
        rows.append([
            _name(shown, failed.player), f"|{_safe(failed.game)}", f"|{_safe(failed.by)}",
            _number(f"{len(failed.records):,}"), f"why|{reasons}", f"|{numbers}{more}",
        ])  # fmt: skip
    head = ["name|player", "|game", "|lost by", "number|games", "|why", "|records"]
    return "<h2>Forfeits</h2>\n" + _table("Forfeits", head, rows)


def _left_out(found: Summary) -> str:
    if not found.left_out:
        return ""
    items = "".join(
        f"<li>{_safe(who)} {_safe(what)}</li>" for who, what in left_out_lines(found.left_out)
    )
    return f"<h2>Left out</h2>\n<ul>{items}</ul>\n"


def drawn(standings: Sequence[Standing]) -> str:
    """Ratings with intervals as an SVG: luck-adjusted where known, the raw rating behind."""
    names = shortened([standing.player for standing in standings], LONG)
    pairs = [(names[s.player], s.adjusted_rating or s.rating, s.rating) for s in standings]
    if not pairs:
        return ""
    ends = [edge for _, *both in pairs for rating in both for edge in (rating.low, rating.high)]
    known = [edge for edge in ends if isfinite(edge)] + [r.elo for _, r, _ in pairs]
    low, high = min(known) - 20, max(known) + 20
    scale = (WIDTH - LEFT - RIGHT) / (high - low)

    def place(elo: float) -> float:
        return LEFT + (min(max(elo, low), high) - low) * scale

    def line(rating: Rating, y: float, style: str, width: int) -> str:
        one, two = place(rating.low), place(rating.high)
        return (
            f'<line x1="{one:.1f}" x2="{two:.1f}" y1="{y}" y2="{y}" class="{style}" '
            f'stroke-width="{width}"/>'
        )

    shapes = []
    for number, (name, best, raw) in enumerate(pairs):
        y = ROW * 2 * number + ROW * 1.5
        at = place(best.elo)
        anchor = "start" if at < WIDTH / 3 else "end" if at > 2 * WIDTH / 3 else "middle"
        shapes.append(
            line(raw, y, "raw", 12) + line(best, y, "curve", 5)
            + f'<circle cx="{place(best.elo):.1f}" cy="{y}" r="7" class="mark"/>'
            + f'<text x="{at:.1f}" y="{y - 13}" text-anchor="{anchor}">'
            + f"{_safe(name)} {best.elo:+.0f}</text>"
        )  # fmt: skip
    bottom = ROW * 2 * len(pairs) + 4
    step = next((s for s in STEPS if (high - low) / s <= 6), STEPS[-1])
    for elo in range(ceil(low / step) * step, floor(high) + 1, step):
        name = f"{elo:+d}" if elo else "0"
        shapes.insert(0, (
            f'<line x1="{place(elo):.1f}" x2="{place(elo):.1f}" y1="0" y2="{bottom}" class="grid"/>'
            f'<text x="{place(elo):.1f}" y="{bottom + 24}" text-anchor="middle">{name}</text>'
        ))  # fmt: skip
    height = bottom + 32
    return (
        f'<svg class="rating" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Ratings with intervals">{"".join(shapes)}</svg>'
    )
