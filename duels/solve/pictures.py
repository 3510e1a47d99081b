"""What perfect play looks like, one or two pictures for each game."""

from __future__ import annotations

from duels.core.game import AnyGame, Decide
from duels.core.player import View
from duels.games import cipher_siege, firewall_breach, number_wars
from duels.games.cipher_siege import CipherSiege
from duels.games.digit_duel import DigitDuel
from duels.games.firewall_breach import FirewallBreach
from duels.games.number_clash import NumberClash
from duels.games.number_wars import NumberWars
from duels.solve.catalogue import solve
from duels.solve.cipher_siege import hands
from duels.solve.picture import Bars, Grid, Picture
from duels.solve.solution import Unsolved


def pictures(game: AnyGame) -> list[Picture]:
    """The pictures of a game; any other game gets the worth of its first moves."""
    if isinstance(game, FirewallBreach):
        return [_actions(game)]
    if isinstance(game, NumberClash):
        return [_opening_mix(game), _first_round(game)]
    if isinstance(game, DigitDuel):
        return [_lives(game)]
    if isinstance(game, NumberWars):
        return [_race(game)]
    if isinstance(game, CipherSiege):
        return [_openings(game)]
    return [_first_moves(game)]


def _actions(game: FirewallBreach) -> Grid:
    solution = solve(game)
    marks = {("attack",): "A", ("bypass",): "B", ("attack", "bypass"): "="}
    own, other = (range(1, strength + 1) for strength in game.strength)
    cells = []
    for mine in own:
        row = []
        for theirs in other:
            state = firewall_breach.State((mine, theirs), 0)
            best = solution.assess_turn(state, 0, firewall_breach.ACTIONS).mix
            row.append(marks[tuple(sorted(best))])
        cells.append(row)
    either = sum(row.count("=") for row in cells)
    count = len(own) * len(other)
    return Grid(
        "Firewall Breach: the best action",
        "the opponent's firewall", [str(n) for n in other],
        "your firewall", [str(n) for n in own], cells,
        {"A": "attack", "B": "bypass", "=": "either, to the last fraction"},
        f"The player who starts wins {solution.start_value()} of games; in {either} of {count} "
        "positions both actions are equal.",
    )  # fmt: skip


def _opening_mix(game: NumberClash) -> Bars:
    choice = solve(game).assess_state(game.start(), 0)
    values = {move: choice.mix.get(move, 0.0) for move in choice.options}
    return Bars("Number Clash: how often to open with each number", values)


def _first_round(game: NumberClash) -> Grid:
    solution = solve(game)
    numbers = [str(number) for number in range(1, game.numbers + 1)]
    cells = [
        [f"{100 * float(solution.value(game.play(game.start(), one, two))):.0f}" for two in numbers]
        for one in numbers
    ]
    return Grid(
        "Number Clash: Player 1's expected score in percent after round 1",
        "Player 2 opens with", numbers, "Player 1 opens with", numbers, cells, {},
    )  # fmt: skip


def _lives(game: DigitDuel) -> Grid:
    solution = solve(game)
    lives = range(1, max(game.life) + 1)
    cells = [
        [
            "W" if solution.value(game.start()._replace(life=(a, d), attacker=0)) == 1 else "L"
            for d in lives
        ]
        for a in lives
    ]
    names = [str(life) for life in lives]
    return Grid(
        "Digit Duel: who wins before the first attack",
        "the defender's life points", names, "the first attacker's life points", names, cells,
        {"W": "the first attacker wins", "L": "the defender wins"},
    )  # fmt: skip


def _race(game: NumberWars) -> Grid:
    solution = solve(game)
    steps = [str(lp) for lp in range(10, max(game.lp) + 1, 10)]
    cells = []
    for mine in steps:
        row = []
        for theirs in steps:
            state = number_wars.State((int(mine), int(theirs)), ((), ()), 0)
            row.append("W" if solution.value(state) == 1 else "L")
        cells.append(row)
    return Grid(
        "Number Wars: who wins the race with fresh records",
        "the other player's LP", steps, "the mover's LP", steps, cells,
        {"W": "the player to move wins", "L": "the other player wins"},
        f"From the start the game takes {solution.distance(game.start())} turns.",
    )  # fmt: skip


def _openings(game: CipherSiege) -> Bars:
    """The first turn's actions, over every hand as it is dealt; killing attacks apart."""
    solution = solve(game)
    deck = game.start().deck
    parts = {"attack and win at once": 0.0, "attack": 0.0, "swap": 0.0, "defend": 0.0}
    for hand, chance in hands(deck, game.hand + 1).items():
        options = cipher_siege.actions(hand, True, 0).options[0]
        sizes = (game.hand + 1, game.hand)
        left = len(deck) - sum(sizes)
        seen = cipher_siege.Seen(0, game.integrity, hand, sizes, left, (), 0, "act", 0)
        choice = solution.assess(View(game, 0, seen, (), options))
        for move, share in choice.mix.items():
            wins = sum(cipher_siege.attack_value(cipher_siege.cards_of(move))) >= game.integrity[1]
            word = move.split()[0]
            name = "attack and win at once" if word == "attack" and wins else word
            parts[name] += chance * share
    return Bars(
        "Cipher Siege: what to do on the first turn", parts,
        f"The player who starts wins about {float(solution.start_value()):.3f} of games.",
    )  # fmt: skip


def _first_moves(game: AnyGame) -> Picture:
    turn = game.turn(game.start())
    if not isinstance(turn, Decide):
        raise Unsolved(f"there is no picture of {game.slug}")
    choice = solve(game).assess_state(game.start(), min(turn.options))
    worth = {move: choice.worth(move) for move in choice.options}
    values = {move: float(value) for move, value in worth.items() if value is not None}
    return Bars(f"{game.title}: what the first moves are worth", values)
