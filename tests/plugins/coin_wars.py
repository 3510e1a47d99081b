"""A game of another package with a compiled kernel: Number Wars under another name."""

from __future__ import annotations

from duels.core.spec import GameSpec
from duels.games.number_wars.kernel import KERNEL as NUMBER_WARS
from duels.games.number_wars.rules import NumberWars
from duels.kernels import Kernel


class CoinWars(NumberWars):
    slug, title, summary = "coin-wars", "Coin Wars", "A race from elsewhere."


KERNEL: Kernel = NUMBER_WARS._replace(game=CoinWars)
SPEC = GameSpec(rules=f"{__name__}:CoinWars", kernel=f"{__name__}:KERNEL")
