"""Mode `matches`: pairs of matches with seats swapped against a built-in player.

A pair begins with a random opening, the same in both of its matches, so that players without
randomness do not repeat themselves. Both matches have the same chance.

The score without luck is, against `perfect` in a game with exact values, the value of the position
after the opening less the sum of the regrets of the answers. Perfect play gives nothing away and
gains nothing but what the other player gives away, so the expected score is the same. In all other
cases it is the AIVAT score (`duels.arena.aivat`). The pair is the unit of statistics.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from random import Random
from typing import Any, NamedTuple

from duels.algorithms.solutions import solve
from duels.arena.aivat import adjusted
from duels.arena.scores import Sample
from duels.core.chance import stream
from duels.core.game import AnyGame, Move
from duels.core.match import Match
from duels.core.payoffs import unit_of
from duels.core.player import MixedStrategy, View
from duels.core.record import to_json
from duels.llm.dialogue import Dialogue, Question
from duels.llm.items import Item, drawn, exact
from duels.llm.positions import POWER, interval, shown
from duels.llm.runner import Run
from duels.players import PERFECT, make_opponent

OPENING = 6  # random choices at the start of a match, at most
TRIES = 100  # openings that are drawn to find one that no other pair has
SHOWN = 6  # of the worst answers
MODEL = "model"
RANDOM_REGRET = "easy"  # a level with half of the regret of random play, to estimate errors


class Answered(NamedTuple):
    """A position with the answer."""

    item: Item | None  # None where values are not exact
    strategy: MixedStrategy | None  # None: a forfeit
    regret: float
    dialogue: Dialogue | None


class Played(NamedTuple):
    """A finished match, as the player who is measured sees it."""

    match: Match
    seat: int
    score: float  # the result: 1, 1/2 or 0
    adjusted: float | None  # without luck
    regret: float | None
    answers: list[Answered]


def seed_of(seed: int, pair: int) -> int:
    """The seed of the chance of both matches of a pair."""
    return int.from_bytes(sha256(f"duels bench {seed} {pair}".encode()).digest()[:8], "big")


def openings(game: AnyGame, n: int, seed: int) -> list[tuple[tuple[str, ...], ...]]:
    """The picks of the opening of each pair; different ones as long as there are enough."""
    known: set[tuple[tuple[str, ...], ...]] = set()
    found = []
    for pair in range(n):
        for attempt in range(TRIES):
            randomness = Random(f"bench opening {seed} {pair} {attempt}")
            picks = _opening(game, seed_of(seed, pair), randomness)
            if picks is not None and picks not in known:
                break
        found.append(picks or ())
        known.add(found[-1])
    return found


def _opening(game: AnyGame, seed: int, randomness: Random) -> tuple[tuple[str, ...], ...] | None:
    """Random picks from the start; None if they end the game."""
    match, picks = Match(game, seed), []
    for _ in range(randomness.randrange(OPENING + 1)):
        picks.append(tuple(randomness.choice(match.view(p).options) for p in match.deciders))
        _submit(match, picks[-1])
        if match.result is not None:
            return None
    return tuple(picks)


def _submit(match: Match, picks: Sequence[str]) -> None:
    for player, pick in zip(match.deciders, picks, strict=True):
        match.submit(player, pick)


class Chosen(NamedTuple):
    """What a player who is measured answered in a position."""

    move: Move | None  # None: a forfeit
    strategy: MixedStrategy | None = None  # None: it is not known, or a forfeit
    why: str = ""  # of a forfeit
    dialogue: Dialogue | None = None


Ask = Callable[[View, int, Random], Awaitable[Chosen]]  # with the sample's number


def asking(run: Run, question: Question) -> Ask:
    """Chooses by dialogues; a move is drawn from a mixed strategy."""

    async def ask(view: View, sample: int, randomness: Random) -> Chosen:
        dialogue = Dialogue(view, question)
        await run.finish(dialogue, sample)
        strategy = dialogue.strategy
        if strategy is None:
            why = f"no usable answer ({dialogue.faults[-1]})"
            return Chosen(None, None, why, dialogue)
        return Chosen(drawn(strategy, randomness), strategy, "", dialogue)

    return ask


async def play(
    game: AnyGame, seed: int, pair: int, seat: int, opening: Sequence[Sequence[str]],
    opponent: str, ask: Ask,
) -> Played:  # fmt: skip
    """Play one match; a choice without a usable answer forfeits it."""
    number, names = seed_of(seed, pair), [opponent, opponent]
    names[seat] = MODEL
    match = Match(
        game, number, players=(names[0], names[1]), now=lambda: None,
        id=sha256(f"duels bench {game!r} {seed} {pair} {seat}".encode()).hexdigest()[:32],
        about={"bench": {"pair": pair + 1}},
    )  # fmt: skip
    for moves in opening:
        _submit(match, moves)
    began, other = len(match.events), make_opponent(opponent, stream(number, 1 - seat))
    randomness, known = Random(f"bench answers {number} {seat}"), dict[int, MixedStrategy]()
    start, answers = match.state, list[Answered]()
    regret = 0.0
    while match.result is None:
        deciders, version = match.deciders, len(match.events)
        picks = {}
        if 1 - seat in deciders:
            picks[1 - seat] = other.choose(match.view(1 - seat))
        if seat in deciders:
            view = match.view(seat)
            chosen = await ask(view, 2 * pair + seat, randomness)
            item = Item(view, solve(game).assess(view)) if exact(game) else None
            strategy = chosen.strategy
            if strategy is None and chosen.move is not None:
                strategy = {chosen.move: 1.0}
            lost = 0.0 if item is None else item.regret(strategy)
            regret += lost
            answers.append(Answered(item, strategy, lost, chosen.dialogue))
            if chosen.move is None:
                match.forfeit(seat, chosen.why)
                break
            if chosen.strategy is not None:
                known[version] = chosen.strategy
            picks[seat] = chosen.move
        for player in deciders:
            match.submit(player, picks[player])
    result, unit = match.result, unit_of(game)
    assert result is not None
    score = 0.5 if result.winner is None else float(result.winner == seat)
    without: float | None
    if exact(game) and opponent == PERFECT and not unit.pays:
        value = float(solve(game).value(start))
        without = (value if seat == 0 else 1 - value) - regret
    else:
        strategies: list[Callable[[View], MixedStrategy | None]] = [
            lambda view: other.mixed_strategy(view) if view.version >= began else None,
            lambda view: known.get(view.version),
        ]
        of_one = adjusted(match, strategies if seat == 1 else strategies[::-1]).score
        without = of_one if of_one is None or seat == 0 else 1 - of_one
    return Played(match, seat, score, without, regret if exact(game) else None, answers)


def play_pairs(
    game: AnyGame, n: int, seed: int, opponent: str, ask: Ask, run: Run | None = None
) -> list[tuple[Played, Played]]:
    """Play `n` pairs; with a run, many at a time."""
    found: dict[tuple[int, int], Played] = {}

    async def one(pair: int, seat: int) -> None:
        found[pair, seat] = await play(game, seed, pair, seat, chosen[pair], opponent, ask)

    async def in_turn() -> None:
        for pair in range(n):
            for seat in (0, 1):
                await one(pair, seat)

    chosen = openings(game, n, seed)
    if run is None:
        asyncio.run(in_turn())
    else:
        run.together([one(pair, seat) for pair in range(n) for seat in (0, 1)])
    return [(found[pair, 0], found[pair, 1]) for pair in range(n)]


def matches_result(pairs: Sequence[tuple[Played, Played]]) -> dict[str, Any]:
    """Scores with and without luck, regret, and the worst answers."""
    games = [game for pair in pairs for game in pair]
    raw = [(one.score + two.score) / 2 for one, two in pairs]
    found = [_mean_adjusted(pair) for pair in pairs]
    without = [score for score in found if score is not None]
    known = len(without) == len(pairs) and len(pairs) > 1
    asked = [answer for game in games for answer in game.answers if answer.item is not None]
    best = Sample.adjusted(without, raw) if known else Sample.of(raw)
    worst = sorted(asked, key=lambda answer: -answer.regret)[:SHOWN]
    regrets = [game.regret for game in games if game.regret is not None]
    return {
        "pairs": len(pairs),
        "score": interval(Sample.of(raw).score()),
        "adjusted": interval(best.score()) if known else None,
        "regret": sum(regrets) / len(regrets) if regrets else None,
        "choices": sum(len(game.answers) for game in games),
        "lost_by_forfeit": sum(
            game.match.result is not None and game.match.result.by == "forfeit" for game in games
        ),
        "worst": [
            {
                **shown(answer.item, [answer.strategy]),
                "regret": answer.regret,
                **({} if answer.dialogue is None else {"said": answer.dialogue.said}),
            }
            for answer in worst
            if answer.regret > 0 and answer.item is not None
        ],
        "units": {
            str(number + 1): [score if known else plain]
            for number, (score, plain) in enumerate(zip(found, raw, strict=True))
        },
    }


def _mean_adjusted(pair: tuple[Played, Played]) -> float | None:
    one, two = pair
    if one.adjusted is None or two.adjusted is None:
        return None
    return (one.adjusted + two.adjusted) / 2


def records(pairs: Sequence[tuple[Played, Played]]) -> list[dict[str, Any]]:
    """The record of every match."""
    return [to_json(game.match) for pair in pairs for game in pair]


def detectable_score(pairs: Sequence[tuple[Played, Played]], n: int) -> float:
    """The smallest difference of scores that `n` pairs show with 80 % probability.

    `pairs` are matches of a player whose errors are like those of the models.
    """
    found = [_mean_adjusted(pair) for pair in pairs]
    scores = [
        (one.score + two.score) / 2 if score is None else score
        for score, (one, two) in zip(found, pairs, strict=True)
    ]
    mean = sum(scores) / len(scores)
    variance = sum((score - mean) ** 2 for score in scores) / max(1, len(scores) - 1)
    return float(POWER * (2 * variance / n) ** 0.5)
