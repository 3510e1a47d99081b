"""Computes figures of docs/explanation/solutions.md and other pages.

python3 tools/solutions.py levels [--pairs N]   # scores against perfect and greedy
python3 tools/solutions.py accuracy [--games N] # mean accuracy of the opponents
python3 tools/solutions.py mirror [--games N]   # perfect against perfect, and the value
python3 tools/solutions.py values [--games N]   # stored values of Cipher Siege and play-outs
python3 tools/solutions.py search [--pairs N]   # scores of ismcts against perfect
python3 tools/solutions.py respond [--full]     # the gain of a best response
python3 tools/solutions.py agent FILE           # exact exploitability of a Firewall Breach policy

All but the last three take --only SLUG, also several times.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from duels.algorithms import solve
from duels.algorithms.best_response import Enumeration, by_state
from duels.algorithms.estimate import error_of
from duels.algorithms.levels import LEVELS
from duels.analysis import grade
from duels.core.chance import stream
from duels.core.game import AnyGame, Pick
from duels.core.match import Match
from duels.core.player import View, answer
from duels.games import BUILT_IN, load
from duels.games.cipher_siege.playouts import PlayOuts
from duels.games.cipher_siege.solver import CLOSELY, COARSE, FINE, OPENING, CipherSiegeSolution
from duels.games.firewall_breach.rules import State
from duels.players import make_opponent


def play(slug: str, players: tuple[str, str], seed: int) -> Match:
    match = Match(load(slug), seed, players=players)
    seats = [make_opponent(name, stream(seed, player)) for player, name in enumerate(players)]
    while match.result is None:
        for player in match.deciders:
            match.submit(player, answer(seats[player], match.view(player)))
    return match


def score(match: Match, player: int) -> float:
    assert match.result is not None
    winner = match.result.winner
    return 0.5 if winner is None else float(winner == player)


def interval(total: float, games: int) -> str:
    """A mean with its 95 % confidence interval."""
    mean = total / games
    return f"{mean:.3f} ± {1.96 * math.sqrt(max(mean * (1 - mean), 1e-9) / games):.3f}"


def bar(done: int, count: int, began: float, what: str) -> None:
    if not sys.stderr.isatty():
        return
    left = (time.monotonic() - began) / done * (count - done)
    print(f"\r{what} {done}/{count}, {left:.0f} s left   ", end="", file=sys.stderr, flush=True)
    if done == count:
        print(file=sys.stderr)


def levels(pairs: int, slugs: Iterable[str]) -> None:
    """The scores of random play and of each level against perfect and greedy, by the arena."""
    columns = ("random", *LEVELS, "perfect")
    print(f"| game | against | {' | '.join(columns)} |")
    print(f"|---|---|{'---|' * len(columns)}")
    for slug in slugs:
        for opponent in ("perfect", "greedy"):
            others = [name for name in columns if name != opponent]
            scores = against(slug, opponent, others, pairs)
            shown = " | ".join(scores.get(name, "") for name in columns)
            print(f"| {slug} | {opponent} | {shown} |", flush=True)


def search(pairs: int, slugs: Iterable[str]) -> None:
    """The score of `ismcts` against perfect, by the arena."""
    print("| game | score of `ismcts` against `perfect` |\n|---|---|")
    for slug in slugs:
        found = against(slug, "perfect", ["ismcts"], pairs)["ismcts"]
        print(f"| {slug} | {found} |", flush=True)


def against(slug: str, opponent: str, others: list[str], pairs: int) -> dict[str, str]:
    """The score of each player against an opponent, luck-adjusted if possible, with interval."""
    with TemporaryDirectory() as place:
        command = [sys.executable, "-m", "duels", "arena", opponent, *others, "--gauntlet"]
        command += ["--games", slug, "-n", str(pairs), "--seed", "1", "--json"]
        command += ["--out", str(Path(place) / "arena")]
        root = Path(__file__).parent.parent
        done = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE)
    (game,) = json.loads(done.stdout)["games"]
    found = {}
    for met in game["meetings"]:
        score = met["adjusted"] or met["score"]
        mean, low, high = (max(0.0, 1 - score[part]) for part in ("mean", "high", "low"))
        found[met["two"]] = f"{mean:.4f} ({low:.4f} to {high:.4f})"
    return found


def accuracy(games: int, slugs: Iterable[str]) -> None:
    """The mean accuracy of each opponent against perfect play, from alternating seats."""
    names = ("random", *LEVELS, "perfect")
    print(f"| game | {' | '.join(names)} |")
    print(f"|---|{'---|' * len(names)}")
    for slug in slugs:
        means = []
        for name in names:
            found, began = [], time.monotonic()
            for number in range(games):
                seat = number % 2
                match = play(slug, (name, "perfect") if seat == 0 else ("perfect", name), number)
                reached = grade(match).accuracy(seat)
                found += [] if reached is None else [reached]
                bar(number + 1, games, began, f"{slug} {name}")
            mean = sum(found) / len(found) if found else math.nan
            spread = math.sqrt(sum((one - mean) ** 2 for one in found)) / max(1, len(found))
            means.append(f"{mean:.0f} ± {1.96 * spread:.0f}")
        print(f"| {slug} | {' | '.join(means)} |", flush=True)


def mirror(games: int, slugs: Iterable[str]) -> None:
    print("| game | value for Player 1 | perfect against perfect | contained |")
    print("|---|---|---|---|")
    for slug in slugs:
        value, total, began = float(solve(load(slug)).start_value()), 0.0, time.monotonic()
        for number in range(games):
            total += score(play(slug, ("perfect", "perfect"), number), 0)
            bar(number + 1, games, began, slug)
        width = 1.96 * math.sqrt(max(value * (1 - value), 1e-9) / games)
        close = "yes" if abs(total / games - value) <= width + 1e-9 else "no"
        print(f"| {slug} | {value:.4f} | {interval(total, games)} | {close} |", flush=True)


def values(games: int) -> None:
    """Print the difference between stored values of Cipher Siege and play-outs, by kind of key."""
    solution = solve(load("cipher-siege"))
    assert isinstance(solution, CipherSiegeSolution)
    print("| games of | stored for | moves | root mean square | less the error of play-outs |")
    print("|---|---|---|---|---|")
    for name in ("perfect", "medium"):
        found: dict[int, list[tuple[float, float]]] = {OPENING: [], FINE: [], COARSE: []}
        began = time.monotonic()
        for number in range(games):
            match = play("cipher-siege", (name, name), number)
            for event in match.line:
                if isinstance(entry := match.events[event], Pick):
                    ((seat, _),) = entry.moves
                    stored_and_played_out(solution, match.view_before(event, seat), found)
            bar(number + 1, games, began, name)
        for kind, what in enumerate(("the first choice", "a fine key", "a coarse key")):
            off = [difference**2 for difference, _ in found[kind]]
            noise = [error**2 for _, error in found[kind]]
            count = max(1, len(off))
            left = math.sqrt(max(0.0, sum(off) - sum(noise)) / count)
            whole = math.sqrt(sum(off) / count)
            print(f"| {name} | {what} | {len(off)} | {whole:.3f} | {left:.3f} |", flush=True)


def stored_and_played_out(
    solution: CipherSiegeSolution, view: View, found: dict[int, list[tuple[float, float]]]
) -> None:
    """Stored value less play-outs, and their error, of a choice's likeliest and first move."""
    assert view.player is not None
    choice = solution.assess(view)
    if choice.rough or choice.best == 1:
        return
    playouts = PlayOuts(solution.player, view)
    _, kind = solution.stored(playouts.belief.info_state)
    for move in {
        max(choice.mixed_strategy, key=lambda m: choice.mixed_strategy[m]),
        view.options[0],
    }:
        if (stored := choice.worth(move)) is not None:
            measured = playouts.measure(move, CLOSELY)
            kind = kind if playouts.belief.choices else OPENING
            found[kind].append((float(measured) - float(stored), error_of(measured) or 0.0))


def respond(full: bool) -> None:
    """Print the gain of a best response to perfect play.

    Without `--full` Number Clash has seven numbers: all of them take minutes for each seat.
    """
    print("| game | seat | states reached | gain of a best response |")
    print("|---|---|---|---|")
    clash = load("number-clash") if full else load("number-clash", numbers=7)
    for game in (*map(load, ("firewall-breach", "digit-duel", "number-wars")), clash):
        for player in (0, 1):
            gain, met = gain_against_perfect(game, player)
            name = game.slug if game is not clash or full else f"{game.slug} numbers=7"
            print(f"| {name} | {player + 1} | {met:,} | {gain:+.1e} |", flush=True)


def gain_against_perfect(game: AnyGame, player: int) -> tuple[float, int]:
    solution = solve(game)
    value = float(solution.start_value())

    def perfect(state: Any) -> Mapping[str, float]:
        strategy = solution.assess_state(state, 1 - player).mixed_strategy
        # In a sequential choice one optimal move suffices, and fewer states are reached.
        return strategy if game.slug == "number-clash" else {next(iter(strategy)): 1.0}

    response = Enumeration(game, 1 - player, by_state(perfect), largest=200_000_000)
    return response.value - (value if player == 0 else 1 - value), len(response.number)


def agent(path: str) -> None:
    """Print a policy's exact scores against perfect play and its best response.

    The file has a table of attack probabilities.
    """
    attack = json.loads(Path(path).read_text(encoding="utf-8"))["attack"]
    game = load("firewall-breach")
    solution = solve(game)
    value = float(solution.start_value())
    for player, seat in ((0, "first"), (1, "second")):

        def policy(state: State, seat: str = seat, player: int = player) -> Mapping[str, float]:
            chance = attack[f"{seat}/{state.strength[player]}"][state.strength[1 - player] - 1]
            return {"attack": chance, "bypass": 1 - chance}

        def perfect(state: State, player: int = player) -> list[str]:
            return list(solution.assess_state(state, 1 - player).mixed_strategy)

        against = 1 - Enumeration(game, player, by_state(policy), allowed=perfect).value
        worst = 1 - Enumeration(game, player, by_state(policy)).value
        could = value if player == 0 else 1 - value
        print(f"\nmoving {seat}: perfect play scores {could:.4f} in this seat; the agent scores")
        print(f"  {against:.4f} against perfect, {worst:.4f} against its best response")
        found = []
        for own in range(1, 11):
            for other in range(1, 11):
                strength = (own, other) if player == 0 else (other, own)
                state = State(strength, player)
                choice = solution.assess_state(state, player)
                regret = sum(p * float(choice.regret(m) or 0) for m, p in policy(state).items())
                found.append(
                    (regret, own, other, policy(state)["attack"], next(iter(choice.mixed_strategy)))
                )
        mean = sum(regret for regret, *_ in found) / len(found)
        print(f"  mean regret over all 100 positions {mean:.4f}; the worst:")
        for regret, own, other, chance, best in sorted(found, reverse=True)[:5]:
            print(
                f"    own {own:2}, other {other:2}: attacks {chance:.3f} of the time, "
                f"{best} is right, gives away {regret:.4f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="figures of the documentation")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, pairs in (("levels", 20_000), ("search", 20)):
        found = commands.add_parser(name)
        found.add_argument("--pairs", dest="games", type=int, default=pairs)
        found.add_argument("--only", action="append", choices=BUILT_IN, help="a game")
    for name, games in (("accuracy", 200), ("mirror", 10_000), ("values", 400)):
        made = commands.add_parser(name)
        made.add_argument("--games", type=int, default=games)
        if name != "values":
            made.add_argument("--only", action="append", choices=BUILT_IN, help="a game")
    commands.add_parser("respond").add_argument("--full", action="store_true")
    commands.add_parser("agent").add_argument("file")
    given = parser.parse_args()
    by_game = {"levels": levels, "search": search, "accuracy": accuracy, "mirror": mirror}
    if given.command in by_game:
        by_game[given.command](given.games, given.only or BUILT_IN)
    elif given.command == "values":
        values(given.games)
    elif given.command == "respond":
        respond(given.full)
    else:
        agent(given.file)


if __name__ == "__main__":
    main()
