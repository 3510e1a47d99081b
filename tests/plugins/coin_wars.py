"""A game of another package with a compiled kernel: Number Wars under another name."""

from __future__ import annotations

from duels.envs.kernels import Kernel
from duels.envs.kernels.number_wars import KERNEL as NUMBER_WARS
from duels.games.number_wars import NumberWars


class CoinWars(NumberWars):
    slug, title, summary = "coin-wars", "Coin Wars", "A race from elsewhere."


KERNEL: Kernel = NUMBER_WARS._replace(game=CoinWars)
