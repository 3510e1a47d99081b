"""Models for the server of the tests: players that read the position from the prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from random import Random

from duels.algorithms import solve
from duels.core.game import AnyGame
from duels.core.player import MixedStrategy, Player, View
from duels.llm.dialogue import seen_lines, uneven
from tests.llm.server import Model


def position(view: View) -> str:
    """What a prompt says of a position; without history, so that matches can be followed."""
    seat = f"You are Player {(view.player or 0) + 1}.\n" if uneven(view) else ""
    return seat + LAST_ROLL.sub("", "\n".join(line.rstrip() for line in seen_lines(view)))


def shown(prompt: str) -> str:
    """The position in a prompt."""
    before, _, after = prompt.rpartition("\nThe position:\n")
    seat = next((f"{line}\n" for line in before.splitlines() if line.startswith("You are Pl")), "")
    return seat + LAST_ROLL.sub("", after.partition("\n\n")[0])


LAST_ROLL = re.compile(r", Die \d+$", re.MULTILINE)  # of the history, not of the position


class Erring(Player):
    """Plays at random with a probability, else perfectly."""

    def __init__(self, part: float) -> None:
        self.part = part

    def mixed_strategy(self, view: View) -> MixedStrategy:
        perfect = solve(view.game).assess(view).mixed_strategy
        even = self.part / len(view.options)
        return {m: even + (1 - self.part) * perfect.get(m, 0.0) for m in view.options}


def playing(views: Iterable[View], player: Player, seed: int) -> Model:
    """A model that draws its moves from a player's mixed strategy."""
    known = {position(view): view for view in views}

    def model(prompt: str, number: int) -> str:
        strategy = player.mixed_strategy(known[shown(prompt)])
        assert strategy is not None
        moves, chances = list(strategy), list(strategy.values())
        (move,) = Random(f"{seed} {number} {prompt}").choices(moves, chances)
        return f"I have thought about it.\nMOVE: {move}"

    return model


def answering(text: str) -> Callable[[str, int], str]:
    return lambda prompt, number: text


def views_of(game: AnyGame) -> list[View]:
    from duels.llm.policy import views_of_policy

    return views_of_policy(game)
