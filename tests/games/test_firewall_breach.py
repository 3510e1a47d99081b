"""Firewall Breach against its rulebook (firewall-breach.txt) and the rulings F1 to F3."""

from __future__ import annotations

from fractions import Fraction

import pytest

from duels.core import Chance, Decide, OptionError, Outcome, Over, Pick
from duels.core.presentation import Shared
from duels.games.firewall_breach.rules import FirewallBreach, State

GAME = FirewallBreach()

# firewall-breach.txt:100-146: each turn's mover, action, roll and both strengths after it.
EXAMPLE = (
    (0, "attack", "5", (10, 7)),
    (1, "attack", "2", (10, 7)),
    (0, "bypass", None, (10, 6)),
    (1, "attack", "6", (7, 6)),
    (0, "attack", "4", (7, 3)),
    (1, "bypass", None, (6, 3)),
    (0, "bypass", None, (6, 2)),
    (1, "bypass", None, (5, 2)),
    (0, "bypass", None, (5, 1)),
    (1, "bypass", None, (4, 1)),
    (0, "bypass", None, (4, 0)),
)


def test_example_game() -> None:
    """firewall-breach.txt:93-151, state by state."""
    state = GAME.start()
    assert state == State(strength=(10, 10), mover=0)
    for mover, action, roll, strength in EXAMPLE:
        assert GAME.turn(state) == Decide({mover: ("attack", "bypass")})
        state = GAME.play(state, action)
        if roll is not None:
            assert isinstance(GAME.turn(state), Chance)
            state = GAME.play(state, roll)
        assert state == State(strength, mover=1 - mover)
    assert GAME.turn(state) == Over(0, "Player 2's Firewall has reached zero.")


def test_die() -> None:
    """firewall-breach.txt:37-41: six equally likely faces, rolled for the attacker."""
    rolling = GAME.play(GAME.start(), "attack")
    faces = {face: Fraction(1, 6) for face in ("1", "2", "3", "4", "5", "6")}
    assert GAME.turn(rolling) == Chance(faces, by=0)
    assert rolling.strength == (10, 10)


@pytest.mark.parametrize(
    ("roll", "left"), [("1", 10), ("2", 10), ("3", 10), ("4", 7), ("5", 7), ("6", 7)]
)
def test_attack(roll: str, left: int) -> None:
    """firewall-breach.txt:65-74: 4, 5 and 6 take three, the others nothing."""
    assert GAME.play(GAME.play(GAME.start(), "attack"), roll) == State((10, left), mover=1)


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_f1_excess_damage_is_ignored(strength: int) -> None:
    """firewall-breach.txt:80-82 against line 7: strength stops at exactly zero."""
    hit = GAME.play(State((strength, 5), mover=1, rolling=True), "6")
    assert hit.strength == (0, 5)
    over = GAME.turn(hit)
    assert isinstance(over, Over)
    assert over.winner == 1


def test_f1_a_firewall_of_four_stands() -> None:
    hit = GAME.play(State((4, 5), mover=1, rolling=True), "6")
    assert GAME.turn(hit) == Decide({0: ("attack", "bypass")})


def test_f1_excess_damage_of_a_bypass() -> None:
    assert FirewallBreach(bypass=4).play(State((10, 3), mover=0), "bypass").strength == (10, 0)


def test_f2_everything_is_open() -> None:
    rolling = State((6, 3), mover=1, rolling=True)
    for viewer in (0, 1, None):
        assert GAME.observe(rolling, viewer) == rolling
        for event in (Outcome("5", 1), Pick(((1, "attack"),))):
            assert GAME.redact(rolling, event, viewer) == event


def test_f2_text_is_relative_to_the_viewer() -> None:
    """firewall-breach.txt:167-172 reads from Player 1's seat while Player 2 moves."""
    before, rolling = State((10, 7), mover=1), State((10, 7), mover=1, rolling=True)
    after = State((10, 7), mover=0)
    pick, roll = Pick(((1, "attack"),)), Outcome("2", 1)

    def told(viewer: int | None) -> list[str]:
        return [
            *GAME.status(before, viewer),
            *GAME.tell(before, pick, rolling, viewer),
            *GAME.tell(rolling, roll, after, viewer),
        ]

    assert told(0) == [
        "",
        "Player 2's Turn:",
        "Your Firewall: 10",
        "Opponent's Firewall: 7",
        "Opponent chose to Attack.",
        "Opponent rolled a 2.",
        "Attack failed! Your firewall remains the same.",
    ]
    assert told(Shared(1)) == [
        "",
        "Player 2's Turn:",
        "Your Firewall: 7",
        "Opponent's Firewall: 10",
        "You chose to Attack.",
        "Rolling dice...",
        "You rolled a 2.",
        "Attack failed! Opponent's firewall remains the same.",
    ]
    assert told(None) == [
        "",
        "Player 2's Turn:",
        "Player 1's Firewall: 10",
        "Player 2's Firewall: 7",
        "Player 2 chose to Attack.",
        "Player 2 rolled a 2.",
        "Attack failed! Player 1's firewall remains the same.",
    ]


def moves_of(state: State) -> list[str]:
    turn = GAME.turn(state)
    if isinstance(turn, Over):
        return []
    return list(turn.odds) if isinstance(turn, Chance) else list(turn.options[state.mover])


def test_no_draws() -> None:
    """firewall-breach.txt:87: over every state that can come up, an end has a winner."""
    found, todo, endings = {GAME.start()}, [GAME.start()], 0
    while todo:
        state = todo.pop()
        turn = GAME.turn(state)
        if isinstance(turn, Over):
            endings += 1
            assert turn.winner is not None
            assert state.strength[1 - turn.winner] == 0 < state.strength[turn.winner]
        for move in moves_of(state):
            after = GAME.play(state, move)
            if after not in found:
                found.add(after)
                todo.append(after)
    assert endings == 20  # either firewall down, the other at 1 to 10


def test_f3_the_value_of_the_game() -> None:
    """Exact values by hand: a failed attack leaves both strengths, so each pair of states of
    equal strengths is solved together, trying the four pairs of actions for the stable one."""
    value: dict[tuple[int, int], Fraction] = {}  # (own, other) strength: the mover's chance to win

    def after(own: int, other: int, damage: int) -> Fraction:
        """The mover's chance to win once the other has lost `damage`."""
        return Fraction(1) if other <= damage else 1 - value[other - damage, own]

    for total in range(2, 21):
        for own in range(max(1, total - 10), total // 2 + 1):
            other = total - own
            here, there = (own, other), (other, own)
            value[here], value[there] = solve_pair(
                (after(*here, 3), after(*here, 1)), (after(*there, 3), after(*there, 1))
            )
    assert value[10, 10] == Fraction(277, 486)


def solve_pair(
    here: tuple[Fraction, Fraction], there: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    """Both movers' chances from those after a hit and after a bypass, best actions for both."""
    half = Fraction(1, 2)
    found: list[tuple[Fraction, Fraction]] = []
    for attacks in ((True, True), (True, False), (False, True), (False, False)):
        x, y = here[1], there[1]
        if attacks == (True, True):
            # x = (hit + 1 - y) / 2 and y = (hit' + 1 - x) / 2
            x = (half * (here[0] + 1) - half * half * (there[0] + 1)) / (1 - half * half)
            y = half * (there[0] + 1 - x)
        elif attacks[0]:
            x = half * (here[0] + 1 - y)
        elif attacks[1]:
            y = half * (there[0] + 1 - x)
        stable = x >= max(here[1], half * (here[0] + 1 - y)) and y >= max(
            there[1], half * (there[0] + 1 - x)
        )
        if stable:
            found.append((x, y))
    assert len(set(found)) == 1
    return found[0]


def test_options() -> None:
    game = FirewallBreach(strength="9/10", hit=4, bypass="2", first="2")
    assert game.start() == State((9, 10), mover=1)
    assert game.play(State((9, 10), mover=1, rolling=True), "4").strength == (5, 10)
    assert game.play(game.start(), "bypass").strength == (7, 10)
    assert game.settings() == {"strength": "9/10", "hit": "4", "bypass": "2", "first": "2"}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("strength", 0),
        ("strength", "10/0"),
        ("strength", "1/2/3"),
        ("strength", "ten"),
        ("strength", ()),
        ("hit", -1),
        ("hit", "2/3"),
        ("bypass", 1000),
        ("bypass", True),
        ("bypass", 1.5),
        ("first", "3"),
        ("first", True),
    ],
)
def test_bad_options(option: str, value: object) -> None:
    with pytest.raises(OptionError, match=rf"^{option} takes .*; got "):
        FirewallBreach(**{option: value})


def test_unknown_option() -> None:
    with pytest.raises(
        OptionError, match=r"no option 'life'; it has strength, hit, bypass, first$"
    ):
        FirewallBreach(life=3)
