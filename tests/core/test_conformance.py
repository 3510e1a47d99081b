"""Every game and variant keeps the promises of the core; the suite catches one that does not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from duels.core.conformance import check
from duels.core.game import AnyGame, Chance, Decide, Event, History, Over, Pick
from duels.core.presentation import Hand, Item, Part, Step
from duels.games.cipher_siege.rules import CipherSiege, Seen, State
from duels.games.firewall_breach.rules import FirewallBreach
from tests.plugins.goofspiel import BareGoofspiel, Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import VARIANTS, name


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_conformance(game: AnyGame) -> None:
    settings = game.settings()
    heavy = game.slug == "cipher-siege" and (settings["hand"] == "5" or settings["values"] == "1")
    lasting = settings.get("strength") == "999"
    report = check(game, matches=1 if heavy else 3 if lasting else 12)
    assert report.states
    if game.private and game.settings().get("values") != "1":  # equal cards hide nothing
        assert report.doubles, "no hidden-equivalent state was met: the leak check saw nothing"


class LeakyHand(CipherSiege):
    def observe(self, state: State, viewer: int | None) -> Seen:
        return super().observe(state, viewer)._replace(discard=state.hands[0])


class LeakySwap(CipherSiege):
    """Shows the opponent a swap without what it brought: history no longer explains the hand."""

    def redact(self, state: State, event: Event, viewer: int | None) -> Event:
        shown = super().redact(state, event, viewer)
        if isinstance(shown, Pick) and shown.moves[0][1].startswith("swap"):
            return Pick(((shown.moves[0][0], "swap ?"),))
        return shown


class LoadedDie(FirewallBreach):
    def turn(self, state: Any) -> Decide | Chance | Over:
        turn = super().turn(state)
        return Chance({"1": Fraction(1, 3)}) if isinstance(turn, Chance) else turn


class NoWayOut(FirewallBreach):
    def turn(self, state: Any) -> Decide | Chance | Over:
        turn = super().turn(state)
        return Decide({0: ("attack", "attack")}) if isinstance(turn, Decide) else turn


class Untypeable(FirewallBreach):
    def turn(self, state: Any) -> Decide | Chance | Over:
        turn = super().turn(state)
        return Decide({state.mover: ("ambush",)}) if isinstance(turn, Decide) else turn


class Careless(CipherSiege):
    """Has secrets and does not say so."""

    private = False


class Untied(CipherSiege):
    """Its table offers a card that no step asks for."""

    def table(self, seen: Seen, viewer: int | None, history: History = ()) -> list[Part]:
        return [*super().table(seen, viewer, history), Hand("More", (Item("9", "9"),), 0, viewer)]


class Unsteady(FirewallBreach):
    """Its steps lead to fewer moves than there are options."""

    def ask(self, seen: Any, player: int, so_far: str) -> Step | None:
        step = super().ask(seen, player, so_far)
        return step and step._replace(choices=step.choices[:1], refused={"bypass": "No."})


PLUGINS: list[AnyGame] = [
    Goofspiel(cards=4),
    Goofspiel(cards=4, prizes="descending"),
    BareGoofspiel(cards=4),
    KuhnPoker(),
    KuhnPoker(first=1),
    LeducPoker(),
    LeducPoker(first=1),
    LiarsDice(),
    LiarsDice(faces=3, first=1),
]


@pytest.mark.parametrize("game", PLUGINS, ids=name)
def test_a_game_of_another_package_conforms(game: AnyGame) -> None:
    report = check(game, matches=6)
    assert report.states
    assert bool(report.doubles) == game.private


@pytest.mark.parametrize(
    "kind", [Careless, Untied, Unsteady, LeakyHand, LeakySwap, LoadedDie, NoWayOut, Untypeable]
)
def test_the_suite_catches_a_broken_game(kind: type[AnyGame]) -> None:
    with pytest.raises((AssertionError, ValueError)):
        check(kind(), matches=12)
