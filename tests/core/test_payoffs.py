"""Payoffs: wins that pay differently, in results, records, the wire, values and environments."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from duels.algorithms.backward_induction import BackwardInduction
from duels.core import Match, Over, Result
from duels.core.conformance import check, play_randomly
from duels.core.game import AnyGame, Chance, Decide, Payoff
from duels.core.game import Game as BareGame
from duels.core.payoffs import Unit, unit_of
from duels.core.record import dumps, loads
from duels.core.wire import dump, load
from duels.games.firewall_breach.rules import FirewallBreach
from tests.variants import VARIANTS, name


class Stakes(FirewallBreach):
    """The winner is paid the strength that is left, in thirds above 1."""

    slug = "stakes"
    share = Fraction(1, 3)

    def turn(self, state: Any) -> Decide | Chance | Over:
        turn = super().turn(state)
        if not isinstance(turn, Over):
            return turn
        assert turn.winner is not None
        return turn._replace(payoff=1 + state.strength[turn.winner] * self.share)

    def highest_payoff(self) -> Payoff:
        return 1 + max(self.strength) * self.share


class Undeclared(Stakes):
    def highest_payoff(self) -> Payoff:
        return 1


def ended(game: AnyGame, seed: int = 1) -> Match:
    match = Match(game, seed)
    while match.result is None:
        match.submit(match.deciders[0], "attack")
    return match


def find(slug: str, **options: object) -> AnyGame:
    return Stakes(**options)


def test_a_game_with_payoffs_conforms_and_an_undeclared_payoff_is_caught() -> None:
    assert check(Stakes(strength=3), matches=3).states
    with pytest.raises(AssertionError, match="highest_payoff"):
        check(Undeclared(strength=3), matches=3)


def test_records_and_wire_carry_a_payoff_that_is_not_1() -> None:
    match = ended(Stakes(strength=3))
    assert match.result is not None
    sent = json.loads(json.dumps(dump(match.result)))
    assert sent["payoff"] == str(match.result.payoff)
    assert load(sent) == match.result
    assert loads(dumps(match), find).result == match.result
    assert dump(Result(0, "rules", "", 3))["payoff"] == 3


@pytest.mark.parametrize("game", [g for g in VARIANTS if g.usual()], ids=name)
def test_nothing_is_added_to_the_records_of_plain_wins(game: AnyGame) -> None:
    from random import Random

    match = play_randomly(game, 1, Random(1))
    assert '"payoff"' not in dumps(match)


def test_the_end_of_a_match_tells_what_every_win_pays() -> None:
    """Also a win that pays 1, in a game in which others pay more."""
    over = Result(0, "rules", "Player 2 has given up.", 1)
    game = Stakes(strength=3)
    ending = BareGame.ending(game, game.observe(game.start(), None), over)
    assert ending[-1] == "Player 1 wins 1!"
    plain = FirewallBreach()
    assert BareGame.ending(plain, plain.start(), over)[-1] == "Player 1 wins!"


def test_resigning_costs_the_most_that_a_win_pays() -> None:
    match = Match(Stakes(strength="3/6"), seed=1)
    match.resign(0)
    assert match.result == Result(1, "resignation", "Player 1 resigned.", 3)


def test_the_verdict_tells_what_a_win_pays() -> None:
    from duels.core.game import verdict

    assert verdict(Result(1, "rules", "Over.", 3), None)[-1] == "Player 2 wins 3!"
    assert verdict(Result(1, "rules", "Over."), 1)[-1] == "You win!"


class Certain(Stakes):
    """Only bypasses: each player loses 1 in turn, so that the payoff is known by hand."""

    slug = "certain"

    def turn(self, state: Any) -> Decide | Chance | Over:
        turn = super().turn(state)
        return Decide({state.mover: ("bypass",)}) if isinstance(turn, Decide) else turn


def test_values_are_expected_payoffs_of_player_1() -> None:
    game = Certain(strength="3/2")
    assert BackwardInduction(game).start_value() == Fraction(5, 3)  # 2 of 3 are left
    assert unit_of(game).name == "expected payoff"
    # With attacks the loser of a race would rather lose less: worth is the mover's own payoff.
    risky = Stakes(strength="1/3", first=1)
    choice = BackwardInduction(risky).assess_state(risky.start(), 1)
    assert choice.worth("bypass") == 2
    assert choice.regret("bypass") == 0
    assert choice.regret("attack") > 0  # type: ignore[operator]


def test_units() -> None:
    assert Unit(1).end(Over(None, "")) == Fraction(1, 2)
    assert Unit(2).end(Over(None, "")) == 0
    assert Unit(2).end(Over(1, "", 2)) == -2
    assert (Unit(1).other(0.25), Unit(2).other(0.25)) == (0.75, -0.25)


@pytest.mark.extra("rl")
def test_rewards_of_environments_are_payoffs() -> None:
    from duels.envs.encoding import encoding
    from duels.envs.episode import Episode

    episode = Episode(encoding(Stakes(strength=2)), 1)
    while episode.result is None:
        episode.pick(episode.deciders[0], 1)  # bypass
    assert episode.rewards == pytest.approx((4 / 3, -4 / 3))
