"""The results of a bench as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from duels.core.presentation import listed
from duels.llm.bench import CODE, MATCHES, POLICY, POSITIONS, QUIZ

Rows = list[list[str]]


def text(result: Mapping[str, Any], *, ascii_only: bool = False) -> list[str]:
    """The table of a run, its faults and its cost."""
    dash = "-" if ascii_only else "–"
    rows = [[cell.replace("–", dash) for cell in row] for row in summary(result)]
    return [title(result), "", *table(rows), "", *below(result)]


def title(result: Mapping[str, Any]) -> str:
    asked = f", answers: {result['answer']}" if result["mode"] not in (QUIZ, CODE) else ""
    against = f" against {result['opponent']}" if result["mode"] == MATCHES else ""
    return f"{result['model']} ({result['mode']}{against}{asked})"


def summary(result: Mapping[str, Any]) -> Rows:
    """The table of a run: a head, and rows for each game."""
    games = result["games"]
    if result["mode"] == POSITIONS:
        return [["game", "positions", "skill", "95 % interval", "regret", "optimal"], *(
            [name(game), str(game["positions"]), *with_interval(game["skill"]),
             f"{game['regret']:.4f}", f"{100 * game['optimal']['mean']:.0f} %"]
            for game in games
        )]  # fmt: skip
    if result["mode"] == POLICY:
        return [["game", "positions", "exploitability", "95 % interval", "as Player 1",
                 "as Player 2"], *(
            [name(game), str(game["positions"]),
             f"{game['exploitability']['total'] / 2:.4f}",
             with_interval(game["interval"])[1] if "interval" in game else "exact",
             *(f"{seat:.4f}" for seat in game["exploitability"]["exploitability"].values())]
            for game in games
        )]  # fmt: skip
    if result["mode"] == MATCHES:
        return [["game", "pairs", "without luck", "95 % interval", "score", "95 % interval",
                 "regret"], *(
            [name(game), str(game["pairs"]), *with_interval(game["adjusted"]),
             *with_interval(game["score"]),
             "-" if game["regret"] is None else f"{game['regret']:.4f}"]
            for game in games
        )]  # fmt: skip
    if result["mode"] == QUIZ:
        return [["game", "questions", "kind", "right", "95 % interval", "by chance"], *(
            [name(game), str(found["questions"]), kind, *with_interval(found["right"]),
             f"{found['by_chance']:.3f}"]
            for game in games for kind, found in game["kinds"].items()
        )]  # fmt: skip
    return [["game", "program", "exploitability", *GAUNTLET_HEAD], *map(_code_row, games)]


GAUNTLET_HEAD = ("random", "greedy", "easy", "medium", "hard", "perfect")


def _code_row(game: Mapping[str, Any]) -> list[str]:
    if not game["accepted"]:
        return [name(game), "has errors", *["-"] * (1 + len(GAUNTLET_HEAD))]
    found = game.get("exploitability")
    least = "" if found is None or found["kind"].startswith("exact") else "≥ "
    shown = "not known" if found is None else f"{least}{found['total'] / 2:.4f}"
    scores = [
        with_interval(played["adjusted"] or played["score"])[0]
        for played in (game["gauntlet"][opponent] for opponent in GAUNTLET_HEAD)
    ]
    return [name(game), "runs", shown, *scores]


def name(game: Mapping[str, Any]) -> str:
    """A game with its options that are not the default ones."""
    if "variants" in game:
        return f"{game['title']}, {len(game['variants'])} variants"
    options = ", ".join(f"{key}={value}" for key, value in game.get("differing", {}).items())
    limit = f"{game['turn_limit']} choices" if game.get("turn_limit") else ""
    more = listed(filter(None, (options, limit)))
    return f"{game['title']} ({more})" if more else str(game["title"])


def with_interval(found: Mapping[str, float] | None) -> list[str]:
    if found is None:
        return ["-", "-"]
    if "low" not in found:
        return [f"{found['mean']:.3f}", "exact"]
    return [f"{found['mean']:.3f}", f"{found['low']:.3f} – {found['high']:.3f}"]


def below(result: Mapping[str, Any]) -> list[str]:
    """Faults and cost."""
    faults: dict[str, int] = {}
    for game in result["games"]:
        for kind, number in game["faults"].items():
            faults[kind] = faults.get(kind, 0) + number
    told = ", ".join(f"{kind} {number:,}" for kind, number in faults.items() if number)
    calls = sum(game["calls"] for game in result["games"])
    read, written = (
        sum(game["tokens"][kind] for game in result["games"]) for kind in ("read", "written")
    )
    cost = sum(game.get("cost", 0.0) for game in result["games"])
    money = f", {cost:.2f} USD" if any("cost" in game for game in result["games"]) else ""
    used = f", {read:,} input tokens, {written:,} output tokens{money}" if read or written else ""
    return [f"Answers that could not be used: {told or 'none'}.", f"{calls:,} answers{used}."]


def compared(rows: Iterable[Mapping[str, Any]], names: tuple[str, str]) -> list[str]:
    """The table of a comparison."""
    found = [["measure", "game", *names, "difference", "95 % interval", "p", ""]]
    for row in rows:
        means = [f"{row[side]:.3f}" if side in row else "" for side in ("one", "two")]
        tested = "p" in row
        found.append([
            row["measure"], row["game"], *means, f"{row['difference']:+.3f}",
            f"{row['low']:+.3f} to {row['high']:+.3f}" if tested else "exact",
            f"{row['p']:.4f}" if tested else "",
            "significant" if row.get("significant") else "",
        ])  # fmt: skip
    return table(found)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned columns, the first to the left."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
