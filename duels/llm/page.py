"""Self-contained HTML pages: the results of one run, and the leaderboard of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from duels.analysis.page import STYLE
from duels.core.player import View
from duels.core.presentation import (
    Die,
    Hand,
    Meter,
    Part,
    Pile,
    Points,
    Tokens,
    part_contents,
    player_name,
)
from duels.core.views import table_of
from duels.core.wire import load_view
from duels.games import load
from duels.llm.bench import CODE, MATCHES, MODES, POLICY, POSITIONS, QUIZ
from duels.llm.dialogue import seen_lines
from duels.llm.report import below, name, summary, title, with_interval
from duels.llm.results import Result, headline

WIDTH, ROW, LEFT, RIGHT = 800, 56, 16, 90  # of a chart of intervals
LONG = 50  # characters of a label in a chart
SAID = 600  # characters of an answer
BAR = 100  # per cent
MORE = """
:root { --good: #1b6e2c; --own: #eef3f8; } @media (prefers-color-scheme: dark) {
  :root { --good: #7bd88f; --own: #22282e; } }
body { max-width: 64rem; } h2 { margin-top: 2.5rem; } .wide { margin-bottom: 1.2rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.name, th.name { min-width: 6rem; max-width: 16rem; white-space: normal;
  position: sticky; left: 0; background: var(--back); }
.note { font-size: .9rem; } .mark { fill: var(--curve); } a { color: var(--curve); }
svg.chart text { font-size: 15px; } svg.chart .scale { opacity: .75; }
.bars td { border: 0; padding: .15rem .6rem; } .bars td.bar { width: 60%; }
.bar span { display: block; height: 1rem; background: var(--curve); min-width: 2px; }
.boards { display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: 1rem; }
.board { border: 1px solid var(--line); border-radius: .5rem; padding: .7rem .9rem; }
.board h4 { margin: 0 0 .4rem; } .side { background: var(--own); border-radius: .4rem;
  padding: .3rem .6rem; margin: .3rem 0; } .side b { display: block; font-size: .85rem; }
.part { display: flex; flex-wrap: wrap; gap: .25rem; align-items: center; font-size: .85rem; }
.chip { border: 1px solid var(--text); border-radius: .3rem; padding: 0 .4rem; }
.spent { opacity: .35; text-decoration: line-through; }
meter { width: 7rem; } .board p { margin: .3rem 0; font-size: .9rem; }
.wrong { color: var(--blunder); } .right { color: var(--good); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; max-height: 16rem;
  overflow: auto; } summary { cursor: pointer; font-size: .85rem; }
@media (max-width: 30rem) { svg.chart text { font-size: 26px; } body { padding: 0 .7rem; }
  td.name, th.name { max-width: 9rem; } }"""


def page(result: Result) -> str:
    """The page of a run, without scripts or external resources; equal results, equal pages."""
    mode, games = result["mode"], result["games"]
    parts = [
        f"<h1>{_safe(result['model'])}</h1><p>{_safe(ABOUT[mode])} {_safe(_asked(result))}</p>",
        _chart(result),
        _table(title(result), summary(result)),
        f"<p>{'<br>'.join(map(_safe, below(result)))}</p>",
    ]
    if any(game["faults"].get("forfeits") or sum(game["faults"].values()) for game in games):
        parts.append(_faults(games))
    if mode == POSITIONS:
        parts += [_phases(games), _mistakes(games)]
    if any("cost" in game or any(game["tokens"].values()) for game in games):
        parts.append(_cost(games))
    parts += [_worst(game) for game in games if game.get("worst")]
    if mode == CODE:
        parts += [_gauntlet(game) for game in games if game.get("gauntlet")]
    parts.append(f"<h2>What the numbers mean</h2>{_notes(MEANING[mode])}")
    return _whole(f"{result['model']}: {mode}", "".join(parts))


ABOUT = {
    POSITIONS: "Positions in which moves differ in value, each with an exact price.",
    POLICY: "The whole policy of a game, and what the best opponent gains against it.",
    MATCHES: "Pairs of matches with seats swapped, from random openings.",
    QUIZ: "Questions about the rules.",
    CODE: "Programs that the model wrote, checked, measured and in matches.",
}
MEANING = {
    POSITIONS: [
        "Skill is 1 - regret / regret of random play: 1 is perfect play, 0 random play.",
        "Regret is the expected score that an answer gives away; a dialogue without a usable "
        "answer loses the game and so costs all that the position was worth.",
        "Intervals are 95 % intervals; a position is the unit.",
    ],
    POLICY: [
        "Exploitability is what a best response scores more than the value of the game, on average "
        "over both seats; in a game with hidden hands, more than the policy scores against itself. "
        "0 is a policy that no opponent exploits; the most is the score of all games.",
        "It is exact for the answers that were given. With several samples of moves the interval "
        "is for the mixed strategy behind them.",
    ],
    MATCHES: [
        "The score counts a win as 1 and a draw as 1/2. Without luck it is, against perfect play "
        "in an exactly solved game, the value of the opening less the regrets; otherwise the AIVAT "
        "score. Both have the same expectation.",
        "Intervals are 95 % intervals; a pair of matches is the unit.",
    ],
    QUIZ: ["By chance is the share of right answers of an answer at random."],
    CODE: [
        "The score without luck of the program in pairs against each built-in player; "
        "exploitability as in the mode policy, and a lower bound for a program that does not state "
        "its mixed strategy.",
    ],
}  # fmt: skip


def leaderboard(runs: Sequence[Sequence[Result]]) -> str:
    """One page of many runs: for each mode a table and a chart of every game."""
    every = [result for run in runs for result in run]
    parts = ["<h1>Leaderboard</h1>", f"<p>{len({r['model'] for r in every}):,} players.</p>"]
    for mode in MODES:
        own = [result for result in every if result["mode"] == mode]
        if own:
            parts.append(_board_of_mode(mode, own))
    return _whole("Leaderboard", "".join(parts))


def _board_of_mode(mode: str, results: Sequence[Result]) -> str:
    lower = mode in (POLICY, CODE)  # is better
    found = {id(result): _figures(result) for result in results}
    games = list(dict.fromkeys(game for figures in found.values() for game in figures))

    def mean(result: Result) -> float:
        figures = [f["mean"] for f in found[id(result)].values() if f is not None]
        return sum(figures) / len(figures) if figures else float("inf" if lower else "-inf")

    ranked = sorted(results, key=lambda r: (mean(r) if lower else -mean(r), r["model"]))
    names = {id(result): _named(result, results) for result in results}
    head = ["", "mean", *games, "unusable"]
    rows = [head]
    for result in ranked:
        cells = []
        for game in games:
            figure = found[id(result)].get(game)
            shown = ["-"] if figure is None else with_interval(figure)
            cells.append(" ".join(shown[:1] + [f"({shown[1]})"] * (len(shown) > 1)))
        forfeits = sum(game["faults"]["forfeits"] for game in result["games"])
        rows.append([names[id(result)], f"{mean(result):.3f}", *cells, f"{forfeits:,}"])
    scale = [figure for figures in found.values() for figure in figures.values() if figure]
    charts = "".join(
        f"<h3>{_safe(game)}</h3>"
        + chart(
            [(names[id(r)], figure) for r in ranked if (figure := found[id(r)].get(game))],
            scale, f"{TITLES[mode]}, {game}",
        )
        for game in games
    )  # fmt: skip
    best = "Lower is better." if lower else "Higher is better."
    return (
        f"<h2>{_safe(TITLES[mode])}</h2><p>{_safe(ABOUT[mode])} {best}</p>"
        f"{_table(TITLES[mode], rows)}{charts}{_notes(MEANING[mode])}"
    )


TITLES = {
    POSITIONS: "Skill", POLICY: "Exploitability", MATCHES: "Score without luck",
    QUIZ: "Knowledge of the rules", CODE: "Exploitability of programs",
}  # fmt: skip


def _figures(result: Result) -> dict[str, dict[str, float] | None]:
    against = f" against {result['opponent']}" if result["mode"] == MATCHES else ""
    return {f"{name(game)}{against}": headline(result["mode"], game) for game in result["games"]}


def _named(result: Result, results: Sequence[Result]) -> str:
    """The model, with the form of its answers if another run differs only in that."""
    if sum(other["model"] == result["model"] for other in results) == 1:
        return str(result["model"])
    legal = "" if result["legal_moves"] else ", legal moves not listed"
    return f"{result['model']} ({result['answer']}, {result['samples']} samples{legal})"


def _whole(heading: str, body: str) -> str:
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{_safe(heading)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
{STYLE}{MORE}
</style></head><body>
{body}
</body></html>
"""


def _safe(text: object) -> str:
    shown = "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}"
                    for c in str(text))  # fmt: skip
    return escape(shown).encode("ascii", "xmlcharrefreplace").decode()


def _notes(notes: Iterable[str]) -> str:
    return "".join(f"<p class='note'>{_safe(note)}</p>" for note in notes)


def _asked(result: Result) -> str:
    parts = [f"Answers: {result['answer']}."] if result["mode"] not in (QUIZ, CODE) else []
    if result["samples"] > 1:
        parts.append(f"{result['samples']} samples of each.")
    if not result["legal_moves"]:
        parts.append("Prompts do not list the legal moves.")
    parts += [f"{key} = {value}." for key, value in result["parameters"].items()]
    return " ".join([*parts, f"Seed {result['seed']}."])


def _table(label: str, rows: Sequence[Sequence[str]]) -> str:
    """A table; the first column has names, cells that begin with a digit are numbers."""

    def cell(kind: str, place: int, text: str) -> str:
        style = "name" if place == 0 else "number"
        return f"<{kind} class='{style}'>{_safe(text)}</{kind}>"

    top = "".join(cell("th", k, text) for k, text in enumerate(rows[0]))
    body = "\n".join(
        "<tr>" + "".join(cell("td", k, text) for k, text in enumerate(row)) + "</tr>"
        for row in rows[1:]
    )
    return (
        f'<div class="wide" role="region" aria-label="{_safe(label)}" tabindex="0">'
        f"<table><thead><tr>{top}</tr></thead><tbody>\n{body}\n</tbody></table></div>\n"
    )


def _chart(result: Result) -> str:
    figures = [(game, figure) for game, figure in _figures(result).items() if figure]
    if not figures:
        return ""
    heading = TITLES[result["mode"]]
    return f"<h2>{heading} by game</h2>" + chart(figures, [f for _, f in figures], heading)


def chart(
    rows: Sequence[tuple[str, Mapping[str, float]]], scale: Sequence[Mapping[str, float]],
    label: str,
) -> str:  # fmt: skip
    """Means with their intervals as SVG; all of `scale` fits, and 0 to 1 in any case."""
    low = min([0.0, *(figure.get("low", figure["mean"]) for figure in scale)])
    high = max([1.0, *(figure.get("high", figure["mean"]) for figure in scale)])

    def place(number: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (number - low) / (high - low)

    bottom, shapes = ROW * len(rows) + 6, []
    for mark in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = place(mark)
        shapes.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}" class="grid"/>'
            f'<text class="scale" x="{x:.1f}" y="{bottom + 22}" text-anchor="middle">{mark:g}'
            "</text>"
        )
    for number, (text, figure) in enumerate(rows):
        y, mean = ROW * number + 40, figure["mean"]
        one, two = (place(figure.get(end, mean)) for end in ("low", "high"))
        shown = text if len(text) <= LONG else text[: LONG - 1] + "…"
        shapes.append(
            f'<text x="0" y="{y - 14}">{_safe(shown)}<title>{_safe(text)}</title></text>'
            f'<line x1="{one:.1f}" x2="{two:.1f}" y1="{y}" y2="{y}" class="curve" '
            f'stroke-width="5"/><circle cx="{place(mean):.1f}" cy="{y}" r="7" class="mark"/>'
            f'<text x="{WIDTH}" y="{y + 5}" text-anchor="end">{mean:.3f}</text>'
        )
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {bottom + 30}" role="img" '
        f'aria-label="{_safe(label)}">{"".join(shapes)}</svg>'
    )


def _bars(label: str, numbers: Mapping[str, float], shown: Callable[[float], str]) -> str:
    most = max(numbers.values(), default=0.0) or 1.0
    rows = "".join(
        f"<tr><td>{_safe(key)}</td><td class='bar'><span style='width:{BAR * number / most:.1f}%'>"
        f"</span></td><td class='number'>{shown(number)}</td></tr>"
        for key, number in numbers.items()
    )
    return f"<div class='wide'><table class='bars' aria-label='{_safe(label)}'>{rows}</table></div>"


def _phases(games: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for game in games:
        numbers = {
            f"{phase} ({found['positions']})": found["regret"]
            for phase, found in game["phases"].items()
        }
        parts.append(f"<h3>{_safe(name(game))}</h3>" + _bars("Regret", numbers, "{:.4f}".format))
    note = (
        "The mean regret of answers in early, middle and late positions, by how many choices "
        "random play has left; the number of positions in brackets."
    )
    return f"<h2>Regret by phase</h2><p class='note'>{note}</p>{''.join(parts)}"


def _mistakes(games: Sequence[Mapping[str, Any]]) -> str:
    parts = []
    for game in games:
        if game["mistakes"]:
            bars = _bars("Regret", game["mistakes"], "{:.4f}".format)
            parts.append(f"<h3>{_safe(name(game))}</h3>{bars}")
    if not parts:
        return ""
    note = (
        "What each kind contributes to the mean regret. A dominated move is never better than some "
        "other move. Mistakes of no named kind are counted by what they lose."
    )
    return f"<h2>Regret by kind of mistake</h2><p class='note'>{note}</p>{''.join(parts)}"


def _faults(games: Sequence[Mapping[str, Any]]) -> str:
    kinds = list(games[0]["faults"])
    rows = [["game", *kinds], *(
        [name(game), *(f"{game['faults'][kind]:,}" for kind in kinds)] for game in games
    )]  # fmt: skip
    note = (
        "Answers with a fault, and dialogues that ended without a usable answer after the second "
        "chance (forfeits)."
    )
    return f"<h2>Faults</h2><p class='note'>{note}</p>{_table('Faults', rows)}"


def _cost(games: Sequence[Mapping[str, Any]]) -> str:
    rows = [["game", "answers", "tokens read", "tokens written", "USD"], *(
        [name(game), f"{game['calls']:,}", f"{game['tokens']['read']:,}",
         f"{game['tokens']['written']:,}", f"{game['cost']:.2f}" if "cost" in game else "-"]
        for game in games
    )]  # fmt: skip
    return f"<h2>Cost by game</h2>{_table('Cost', rows)}"


def _gauntlet(game: Mapping[str, Any]) -> str:
    rows = [["against", "pairs", "without luck", "95 % interval", "score", "forfeits"], *(
        [opponent, str(found["pairs"]), *with_interval(found["adjusted"]),
         f"{found['score']['mean']:.3f}", str(found["lost_by_forfeit"])]
        for opponent, found in game["gauntlet"].items()
    )]  # fmt: skip
    return f"<h2>Gauntlet: {_safe(name(game))}</h2>{_table('Gauntlet', rows)}"


# Boards


def _worst(game: Mapping[str, Any]) -> str:
    boards = "".join(_answered(worst) for worst in game["worst"])
    return f"<h2>Worst answers: {_safe(name(game))}</h2><div class='boards'>{boards}</div>"


def _answered(worst: Mapping[str, Any]) -> str:
    view = load_view(worst["view"], load)
    answers = "; ".join(_mixed(answer) for answer in worst["answers"])
    cost = f", {worst['cost']:.4f} in a game" if "cost" in worst else ""
    said = worst.get("said", "")
    more = ""
    if said:
        shown = said if len(said) <= SAID else "… " + said[-SAID:]
        more = f"<details><summary>The answer</summary><pre>{_safe(shown)}</pre></details>"
    return (
        f"<div class='board'><h4>Loses {worst['regret']:.4f}{cost}</h4>{board(view)}"
        f"<p class='wrong'>Answer: {_safe(answers)}</p>"
        f"<p class='right'>Perfect play: {_safe(_mixed(worst['perfect']))}</p>{more}</div>"
    )


def _mixed(strategy: Mapping[str, float] | None) -> str:
    if strategy is None:
        return "none that can be used"
    if len(strategy) == 1:
        return next(iter(strategy))
    shares = sorted(strategy.items(), key=lambda each: -each[1])
    return ", ".join(f"{move} {100 * p:.0f} %" for move, p in shares if p >= 0.005)


def board(view: View) -> str:
    """A position as a player sees it: the own side first, and what the table does not show."""
    assert view.player is not None
    sides: dict[int | None, list[Part]] = {view.player: [], 1 - view.player: [], None: []}
    for part in table_of(view):
        if part_contents(part):
            sides[part.owner].append(part)
    drawn = ""
    for owner, parts in sides.items():
        if parts:
            who = "" if owner is None else f"<b>{_who(owner, view.player)}</b>"
            drawn += f"<div class='side'>{who}{''.join(map(_part, parts))}</div>"
    lines = [line for line in seen_lines(view) if not line.startswith(("You: ", "Opponent: "))]
    return drawn + "".join(f"<p>{_safe(line)}</p>" for line in lines)


def _who(owner: int, viewer: int) -> str:
    return f"{'The model' if owner == viewer else 'Opponent'} ({player_name(owner)})"


def _part(part: Part) -> str:
    label = _safe(part.label)
    match part:
        case Meter(_, value, top) | Points(_, value, top):
            inside = f"<meter min='0' max='{top}' value='{max(0, value)}'></meter> {value} of {top}"
        case Tokens(_, items):
            inside = "".join(
                f"<span class='chip{' spent' if item.spent else ''}'>{_safe(item.face)}</span>"
                for item in items
            )
        case Hand(_, cards, hidden):
            faces = [_safe(card.face) for card in cards] + ["?"] * hidden
            inside = "".join(f"<span class='chip'>{face}</span>" for face in faces)
        case Pile() | Die():
            inside = f"<span class='chip'>{_safe(part_contents(part))}</span>"
        case _:
            inside = _safe(part_contents(part))
    return f"<div class='part'>{label} {inside}</div>"
