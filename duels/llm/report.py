"""The results of a bench as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duels.llm.bench import POSITIONS


def text(result: Mapping[str, Any], *, ascii_only: bool = False) -> list[str]:
    """The table of a run, its faults and its cost."""
    dash = "-" if ascii_only else "–"
    if result["mode"] == POSITIONS:
        rows = [["game", "positions", "skill", "95 % interval", "regret", "optimal"]]
        for game in result["games"]:
            skill = game["skill"]
            rows.append([
                game["game"], str(game["positions"]), f"{skill['mean']:.3f}",
                f"{skill['low']:.3f} {dash} {skill['high']:.3f}", f"{game['regret']:.4f}",
                f"{100 * game['optimal']['mean']:.0f} %",
            ])  # fmt: skip
    else:
        rows = [["game", "positions", "exploitability", "as Player 1", "as Player 2"]]
        for game in result["games"]:
            seats = list(game["exploitability"]["exploitability"].values())
            rows.append([
                game["game"], str(game["positions"]), f"{sum(seats) / 2:.4f}",
                *(f"{seat:.4f}" for seat in seats),
            ])  # fmt: skip
    lines = [f"{result['model']} ({result['mode']}, answers: {result['answer']})", "", *table(rows)]
    faults: dict[str, int] = {}
    for game in result["games"]:
        for name, number in game["faults"].items():
            faults[name] = faults.get(name, 0) + number
    told = ", ".join(f"{name} {number:,}" for name, number in faults.items() if number)
    lines += ["", f"Answers that could not be used: {told or 'none'}."]
    calls = sum(game["calls"] for game in result["games"])
    read, written = (
        sum(game["tokens"][kind] for game in result["games"]) for kind in ("read", "written")
    )
    cost = sum(game.get("cost", 0.0) for game in result["games"])
    money = f", {cost:.2f} USD" if "cost" in result["games"][0] else ""
    used = f", {read:,} input tokens, {written:,} written{money}" if read or written else ""
    return [*lines, f"{calls:,} answers{used}."]


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
