"""The readable reference solver: known games, and two ways to every truth."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from duels.algorithms import Unsolved, backward_induction, solve, tables
from duels.algorithms.backward_induction import BackwardInduction
from duels.algorithms.solution import SolveArguments
from duels.core import Match
from duels.core.game import AnyGame, Chance, Decide, Game, Over
from duels.games import load
from duels.games.firewall_breach.rules import FirewallBreach
from duels.games.number_wars.rules import TIMEOUT
from tests.plugins.goofspiel import Goofspiel

ROOT = Path(__file__).parent.parent.parent


class At(NamedTuple):
    place: str


class Toy(Game[At, At]):
    """A game given by a table from places to turns; a move is the name of the next place."""

    slug = "toy"
    title = summary = rules = ""
    places: dict[str, Decide | Chance | Over]

    def start(self) -> At:
        return At("start")

    def turn(self, state: At) -> Decide | Chance | Over:
        return self.places[state.place]

    def play(self, state: At, *picks: str) -> At:
        return At(" ".join(picks))

    def observe(self, state: At, viewer: int | None) -> At:
        return state


WON, LOST = Over(0, ""), Over(1, "")


def toy(**places: Decide | Chance | Over) -> Toy:
    game: Toy = type("ThisToy", (Toy,), {"places": {"won": WON, "lost": LOST, **places}})()
    return game


def value(game: AnyGame) -> object:
    return BackwardInduction(game).start_value()


def test_a_fair_coin_thrown_until_it_falls() -> None:
    coin = {"won": Fraction(1, 3), "lost": Fraction(1, 6), "start": Fraction(1, 2)}
    assert value(toy(start=Chance(coin))) == Fraction(2, 3)


def test_a_player_who_can_leave_a_cycle_for_the_better_does() -> None:
    game = toy(start=Decide({0: ("there", "lost")}), there=Decide({1: ("start", "won")}))
    assert value(game) == Fraction(1, 2), "both would rather go round for ever"
    game = toy(start=Decide({0: ("there", "won")}), there=Decide({1: ("start", "won")}))
    assert value(game) == 1


def test_a_cycle_with_chance_and_two_players() -> None:
    """Each may flip a coin for the game or hand the coin over: flipping first is worth 2/3."""
    game = toy(
        start=Decide({0: ("flip", "hand")}),
        flip=Chance({"won": Fraction(1, 2), "hand": Fraction(1, 2)}),
        hand=Decide({1: ("flop", "start")}),
        flop=Chance({"lost": Fraction(1, 2), "start": Fraction(1, 2)}),
    )
    assert value(game) == Fraction(2, 3)


def test_a_sealed_choice_is_a_matrix_game() -> None:
    moves = ("rock", "paper", "scissors")
    beats = {("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")}
    ends = {
        f"{a} {b}": Over(None, "") if a == b else WON if (a, b) in beats else LOST
        for a in moves
        for b in moves
    }
    game = toy(start=Decide({0: moves, 1: moves}), **ends)
    choice = BackwardInduction(game).assess_state(game.start(), 1)
    assert choice.value == pytest.approx(0.5, abs=1e-12)
    assert dict(choice.mixed_strategy) == pytest.approx(dict.fromkeys(moves, 1 / 3), abs=1e-9)


def test_hidden_information_is_refused() -> None:
    game = load("cipher-siege", values=2, copies=2, hand=1, limit=2, integrity=3)
    with pytest.raises(Unsolved, match="hidden information"):
        BackwardInduction(game)


def test_a_game_too_large_is_refused() -> None:
    with pytest.raises(Unsolved, match="more than 1,000 states"):
        BackwardInduction(load("digit-duel"), largest=1000)


SMALL: list[tuple[str, dict[str, object]]] = [
    ("firewall-breach", {}),
    ("firewall-breach", {"first": 1, "strength": "6/4", "hit": 2}),
    ("firewall-breach", {"strength": "5/7", "hit": 4, "bypass": 2}),
    ("number-clash", {"numbers": 4, "points": 2}),
    ("number-clash", {"numbers": 5, "points": 3}),
    ("digit-duel", {"digits": 4, "life": 3}),
    ("digit-duel", {"digits": 3, "life": "2/4", "first": 1}),
    ("digit-duel", {"digits": 3, "life": 3, "hidden": True}),
    ("number-wars", {"numbers": 3, "lp": 8}),
    ("number-wars", {"numbers": 4, "lp": "9/12", "first": 1}),
    *[
        ("number-wars", {"numbers": 3, "lp": f"{one}/{two}", "refresh": False})
        for one in (3, 5, 6, 7, 8)
        for two in (4, 6, 7, 9)
    ],
]


@pytest.mark.parametrize(("slug", "options"), SMALL)
def test_the_methods_of_each_game_agree_with_the_reference(
    slug: str, options: dict[str, object]
) -> None:
    """Every state, not only the first: the special method against the walk over the rules."""
    game = load(slug, **options)
    reference, special = BackwardInduction(game), solve(game)
    compared = 0
    for state in reference.states:
        if isinstance(game.turn(state), Decide):
            one, two = reference.value(state), special.value(state)
            assert one == two or abs(float(one) - float(two)) < 1e-12, state
            compared += 1
    assert compared > 10


def test_the_known_facts() -> None:
    """F3, N6, D6 and W5 of the rulings."""
    fire = load("firewall-breach")
    assert solve(fire).start_value() == BackwardInduction(fire).start_value() == Fraction(277, 486)
    clash = load("number-clash")
    assert solve(clash).start_value() == pytest.approx(0.5, abs=1e-12)
    after = solve(clash).value(clash.play(clash.start(), "7", "8"))
    assert round(float(after), 6) == 0.877595
    duel = load("digit-duel")
    assert all(v == 1 for v in solve(duel).assess_state(duel.start(), 0).options.values())
    assert solve(load("digit-duel", life="9/10")).start_value() == 0
    wars = load("number-wars")
    assert (solve(wars).start_value(), solve(wars).distance(wars.start())) == (1, 31)


def test_one_lost_turn_hands_number_wars_over() -> None:
    game = load("number-wars")
    state = game.play(game.play(game.start(), "10"), "10")
    assert solve(game).value(game.play(state, "10")) == 0


def test_long_work_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duels.algorithms.backward_induction.STEP", 50)
    told: list[float] = []
    BackwardInduction(
        load("number-clash", numbers=4, points=2), lambda part, what: told.append(part)
    )
    assert len(told) > 3
    assert 0 < told[0] < 1
    assert told[-1] == 1


def test_states_after_a_lost_turn_are_known_too() -> None:
    """A match reaches them when time runs out; they are no option of a player."""
    game = load("number-wars", lp=9, numbers=3)
    late = game.play(game.start(), TIMEOUT)
    found = BackwardInduction(game)
    assert found.value(late) == solve(game).value(late) == 0
    assert found.start_value() == 1


# Tables of the user's


class Breach(FirewallBreach):
    """A game of another package with chance, and with values that are fractions."""

    slug = "breach"


@pytest.fixture
def stored_from_ten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games of more than ten states are stored, in a directory of this test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("duels.algorithms.backward_induction.STEP", 10)


@pytest.mark.usefixtures("stored_from_ten")
@pytest.mark.parametrize("game", [Goofspiel(cards=3), Breach(strength="3/4", first=1)])
def test_a_stored_solution_has_the_same_values_and_strategies(
    game: AnyGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = BackwardInduction(game)
    assert os.path.exists(tables.own_path(game))
    with monkeypatch.context() as patch:
        patch.setattr(backward_induction, "solve_graph", lambda *given: pytest.fail("again"))
        stored = BackwardInduction(game)
        assert BackwardInduction.quick(game)
    for state, number in solved.states.items():
        assert stored.value(state) == solved.value(state)
        assert type(stored.value(state)) is type(solved.value(state))
        for player in solved.nodes[number].choosers:
            assert stored.assess_state(state, player) == solved.assess_state(state, player)
    match = Match(game, seed=1)
    for player in match.deciders:
        assert stored.assess(match.view(player)) == solved.assess(match.view(player))


@pytest.mark.usefixtures("stored_from_ten")
def test_a_table_of_other_rules_or_another_first_player_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    game = Breach(strength="3/4")
    facts = BackwardInduction.rebuild(game, lambda part, what: None, SolveArguments())
    assert facts["table"] == tables.own_path(game)
    assert facts["value (expected score)"] == solve(load("firewall-breach", strength="3/4")).value(
        game.start()
    )
    kind = backward_induction.KIND
    assert tables.from_rules(game, kind) is not None
    assert tables.from_rules(Breach(strength="3/4", first=1), kind) is None
    assert tables.from_rules(Breach(strength="4/4"), kind) is None
    with pytest.raises(Unsolved, match="more than 5 states"):
        BackwardInduction(game, largest=5, use_tables=False)
    with pytest.raises(Unsolved, match="omit --minutes"):
        BackwardInduction.rebuild(game, lambda part, what: None, SolveArguments(minutes=1))
    given = SolveArguments(str(tmp_path / "x.duels"))
    written = BackwardInduction.rebuild(game, lambda part, what: None, given)
    assert Path(written["table"]).read_bytes() == Path(tables.own_path(game)).read_bytes()
    monkeypatch.setattr(tables, "rules_digest", lambda game: "changed")
    assert tables.from_rules(game, kind) is None


def test_the_key_of_a_state_is_the_same_in_every_process() -> None:
    program = """
from dataclasses import dataclass
from duels.algorithms.backward_induction import key_of
@dataclass(frozen=True)
class State:
    left: frozenset
    by: tuple
print(key_of(State(frozenset("abcdefgh"), ({"x": 1, "y": frozenset("pqrst")}, 2.5, None))))
"""
    keys = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(keys) == 1


@pytest.mark.usefixtures("stored_from_ten")
def test_fractions_that_are_too_long_are_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [backward_induction._fits(v) for v in (Fraction(1, 2**63), Fraction(1, 3), 0.1)] == [
        False,
        True,
        True,
    ]
    game = Breach(strength="3/4")
    monkeypatch.setattr(backward_induction, "_fits", lambda value: False)
    BackwardInduction(game)
    assert not os.path.exists(tables.own_path(game))
    assert "table" not in BackwardInduction.rebuild(game, lambda part, what: None, SolveArguments())
