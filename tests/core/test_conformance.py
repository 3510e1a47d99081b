"""Every game and variant keeps the promises of the core; the suite catches one that does not."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from duels.core.conformance import Report, check, play_randomly
from duels.core.game import AnyGame, Chance, Decide, Event, History, Over, Pick
from duels.core.presentation import Hand, Item, Part, Step
from duels.games.cipher_siege.rules import CipherSiege, Seen, State
from duels.games.firewall_breach.rules import FirewallBreach
from tests.plugins.goofspiel import BareGoofspiel, Goofspiel
from tests.plugins.kuhn_poker import KuhnPoker
from tests.plugins.leduc_poker import LeducPoker
from tests.plugins.liars_dice import LiarsDice
from tests.variants import VARIANTS, name

LONG = 300  # events of a match; of a game with more, one match is played


@pytest.mark.cases(15)
@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_conformance(game: AnyGame) -> None:
    report = check(game, matches=12 if len(play_randomly(game, 0, Random(0)).events) < LONG else 1)
    assert report.states
    met_what_is_hidden(game, report)


def met_what_is_hidden(game: AnyGame, report: Report) -> None:
    """Else the search for leaks saw nothing. With some options a private game hides nothing."""
    assert bool(report.doubles) == bool(report.secrets)
    assert not report.secrets or game.private
    assert report.secrets or not (game.private and game.usual())


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
    met_what_is_hidden(game, report)


class Betraying(KuhnPoker):
    """Ends at once if Player 2 is dealt the king, which no event has shown to Player 1."""

    def turn(self, state: Any) -> Decide | Chance | Over:
        ended = len(state.cards) == 2 and state.cards[1] == "king"
        return Over(1, "The king wins.") if ended else super().turn(state)


class Unhidden(KuhnPoker):
    """Deals in secret and shows all cards."""

    def observe(self, state: Any, viewer: int | None) -> Any:
        both = state.cards if len(state.cards) == 2 else ()
        return super().observe(state, viewer)._replace(shown=both)


class Underpaid(KuhnPoker):
    def highest_payoff(self) -> int:
        return 1


class TooShort(KuhnPoker):
    def longest(self) -> int:
        return 1


class Misnumbered(KuhnPoker):
    def features(self) -> tuple[str, ...]:
        return ("own card",)


class Unbounded(KuhnPoker):
    def bounds(self) -> tuple[int, ...]:
        return (0, 2, 2, 1)


class Unlisted(KuhnPoker):
    def moves(self) -> tuple[str, ...]:
        return ("pass",)


CAUGHT: dict[type[AnyGame], str] = {
    Careless: "set private = True, or show more in redact",
    Untied: "offers '9', which no step asks for",
    Unsteady: "'bypass' is an option of Player 1 .* cannot be typed",
    LeakyHand: r"observe\(\) shows .* though all events looked alike: hide it in observe",
    LeakySwap: "fails with ValueError.*every method must accept what the others return",
    LoadedDie: "odds must sum to 1",
    NoWayOut: "lists .* twice for Player 1 .*: list each move once",
    Untypeable: "lacks .*ambush.*: list every move there",
    Betraying: "what happens next differs in .*reveal it first by an event",
    Unhidden: "hide it in observe",
    Underpaid: r"a win pays 2 and highest_payoff\(\) is 1: return the most",
    TooShort: r"longest\(\) is 1: return the most there can be, or None",
    Misnumbered: r"encode\(\) gives 4 numbers and features\(\) 1 names",
    Unbounded: "own card is . of 0.*: raise the bound",
    Unlisted: r"moves\(\) lacks \['bet'\]",
}


@pytest.mark.parametrize("kind", CAUGHT)
def test_the_suite_says_what_is_wrong_and_what_to_change(kind: type[AnyGame]) -> None:
    with pytest.raises(AssertionError, match=CAUGHT[kind]):
        check(kind(), matches=12)
