"""The stored results of runs: reading them, and paired comparisons of two runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from duels.arena.scores import Sample
from duels.core.errors import RecordError, file_error, quote
from duels.llm.bench import CODE, MODES, POLICY, POSITIONS
from duels.llm.positions import interval

FORMAT, VERSION = "duels bench", 2
FLIPS = 10_000  # random signs of differences, for a p-value
LEVEL = 0.05
SCORE = {
    "positions": "skill", "matches": "score without luck", "policy": "exploitability",
    "quiz": "right answers", "code": "score without luck",
}  # fmt: skip

Result = dict[str, Any]


def load(folder: str) -> list[Result]:
    """The results in the folder of a run, one for each mode."""
    found = [read(path) for mode in MODES if (path := Path(folder) / f"{mode}.json").exists()]
    if not found:
        raise RecordError(
            f"{quote(folder)} has no results: expected a folder that duels bench has written"
        )
    return found


def read(path: Path) -> Result:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = file_error(error) if isinstance(error, OSError) else "it is not JSON"
        raise RecordError(f"cannot read {quote(str(path))}: {why}") from None
    if (
        not isinstance(data, dict)
        or (data.get("format"), data.get("version")) != (FORMAT, VERSION)
        or data.get("mode") not in MODES
        or not isinstance(data.get("games"), list)
    ):
        raise RecordError(f"{quote(str(path))} is not a result of duels bench, version {VERSION}")
    return data


def key_of(result: Result, game: Mapping[str, Any]) -> tuple[str, ...]:
    """What must be equal for two results to be compared."""
    about = json.dumps(game.get("variants") or game.get("options"), sort_keys=True)
    return result["mode"], game["game"], about, str(game.get("opponent", ""))


def headline(mode: str, game: Mapping[str, Any]) -> dict[str, float] | None:
    """The main figure of a game, with its interval if it has one."""
    found: Any
    if mode == POSITIONS:
        found = game["skill"]
    elif mode == POLICY:
        found = game.get("interval") or {"mean": game["exploitability"]["total"] / 2}
    elif mode == CODE:
        seat = game.get("exploitability")
        found = None if seat is None else {"mean": seat["total"] / 2}
    else:
        found = game.get("adjusted") or game.get("score") or game.get("right")
    return found  # type: ignore[no-any-return]


def compare(one: Sequence[Result], two: Sequence[Result]) -> list[dict[str, Any]]:
    """The differences of two runs, `two` less `one`, game by game and over all games of a mode.

    Units that both runs have are paired: positions, pairs of matches, questions. The p-value is the
    share of random signs of the differences whose mean is as far from 0; those of one comparison
    are adjusted by the method of Holm. An exploitability is exact and has no p-value, or has an
    interval of its own in each run.
    """
    found: list[dict[str, Any]] = []
    others = {key_of(result, game): game for result in two for game in result["games"]}
    for result in one:
        mode, pooled, games = result["mode"], list[float](), 0
        for game in result["games"]:
            other = others.get(key_of(result, game))
            if other is None:
                continue
            row: dict[str, Any] = {"mode": mode, "game": game["game"], "measure": SCORE[mode]}
            if mode == POLICY:
                a, b = headline(mode, game), headline(mode, other)
                assert a is not None
                assert b is not None
                found.append(row | {"one": a["mean"], "two": b["mean"],
                                    "difference": b["mean"] - a["mean"]})  # fmt: skip
                continue
            differences, figures = paired(mode, game["units"], other["units"])
            if not differences:
                continue
            found.append(row | figures | tested(differences))
            pooled += differences
            games += 1
        if games > 1:
            row = {"mode": mode, "game": "all", "measure": SCORE[mode]}
            found.append(row | tested(pooled))
    if not found:
        raise RecordError("the two runs have no positions, pairs or questions in common")
    holm(found)
    return found


def paired(
    mode: str, one: Mapping[str, Sequence[float]], two: Mapping[str, Sequence[float]]
) -> tuple[list[float], dict[str, float]]:
    """The differences of the units that both have, and the means of both over these."""
    common = [key for key in one if key in two]
    if not common:
        return [], {}
    if mode == POSITIONS:  # skill: 1 - regret / regret of random play
        base = sum(one[key][1] for key in common) / len(common)
        a, b = ([1 - units[key][0] / base for key in common] for units in (one, two))
    else:
        a, b = ([units[key][0] for key in common] for units in (one, two))
    means = {"one": sum(a) / len(a), "two": sum(b) / len(b)}
    return [y - x for x, y in zip(a, b, strict=True)], means


def tested(differences: Sequence[float]) -> dict[str, Any]:
    """The mean of paired differences, its 95 % interval and the p-value.

    >>> found = tested([0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 0.2, 0.2])
    >>> found["units"], round(found["difference"], 3), found["p"] < 0.02
    (8, 0.175, True)
    """
    n, mean = len(differences), sum(differences) / len(differences)
    far = max(map(abs, differences))
    if n > 1 and far:
        unit = [(d / far + 1) / 2 for d in differences]  # on the scale of scores
        limits = interval(Sample.of(unit).score()._replace(mean=(mean / far + 1) / 2))
        low, high = ((2 * limits[end] - 1) * far for end in ("low", "high"))
    else:
        low = high = mean
    return {"units": n, "difference": mean, "low": low, "high": high, "p": p_value(differences)}


def p_value(differences: Sequence[float]) -> float:
    """The probability of a mean as far from 0 if the sign of each difference were random."""
    some = [d for d in differences if d]
    if not some:
        return 1.0
    far, randomness = abs(sum(some)) - 1e-12, Random("signs")
    as_far = sum(
        abs(sum(d if bit == "1" else -d for d, bit in zip(some, bits, strict=True))) >= far
        for bits in (f"{randomness.getrandbits(len(some)):0{len(some)}b}" for _ in range(FLIPS))
    )
    return (1 + as_far) / (1 + FLIPS)


def holm(rows: Sequence[dict[str, Any]]) -> None:
    """Add whether each difference is significant with all of them tested together (Holm, 1979)."""
    tests = sorted((row for row in rows if "p" in row), key=lambda row: float(row["p"]))
    holds = True
    for number, row in enumerate(tests):
        holds = holds and row["p"] <= LEVEL / (len(tests) - number)
        row["significant"] = holds
