"""Chart of Cipher Siege: the actions of the strategy on the first turn."""

from __future__ import annotations

from duels.algorithms.solutions import solve
from duels.core.game import AnyGame
from duels.core.player import View
from duels.games.cipher_siege.belief import hand_odds
from duels.games.cipher_siege.rules import CipherSiege, Seen, actions, attack_value, cards_of
from duels.plotting.drawing import Bars, Chart


def charts(game: AnyGame) -> list[Chart]:
    assert isinstance(game, CipherSiege)
    return [first_turn(game)]


def facts(game: AnyGame) -> list[str]:
    """What the strategy shows, with its figures."""
    assert isinstance(game, CipherSiege)
    played = first_turn(game).values
    likely = max(played, key=lambda name: played[name])
    at_once = 100 * played["attack and win at once"]
    share = 100 * played[likely]
    return [
        f"The strategy begins most often with: {likely} ({share:.0f} % of dealt hands).",
        f"In {at_once:.2f} % of dealt hands the player who starts can win on the first turn.",
    ]


def first_turn(game: CipherSiege) -> Bars:
    """The actions of the first turn, averaged over all dealt hands; winning attacks separately."""
    solution = solve(game)
    deck = game.start().deck
    parts = {"attack and win at once": 0.0, "attack": 0.0, "swap": 0.0, "defend": 0.0}
    for hand, chance in hand_odds(deck, game.hand + 1).items():
        options = actions(hand, True, 0).options[0]
        sizes = (game.hand + 1, game.hand)
        left = len(deck) - sum(sizes)
        seen = Seen(0, game.integrity, hand, sizes, left, (), 0, "act", 0)
        choice = solution.assess(View(game, 0, seen, (), options))
        for move, share in choice.mixed_strategy.items():
            wins = sum(attack_value(cards_of(move))) >= game.integrity[1]
            word = move.split()[0]
            name = "attack and win at once" if word == "attack" and wins else word
            parts[name] += chance * share
    return Bars(
        "Cipher Siege: what to do on the first turn", parts,
        f"The player who starts wins about {float(solution.start_value()):.3f} of games.",
    )  # fmt: skip
