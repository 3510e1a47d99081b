"""The dialogue: what a prompt depends on, and how answers are read."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core.game import AnyGame
from duels.core.match import Match
from duels.core.player import View
from duels.games import load
from duels.llm.dialogue import (
    CHANCES,
    ILLEGAL,
    MIX,
    MOVE,
    REFUSED,
    TRUNCATED,
    UNREADABLE,
    Dialogue,
    Question,
    Reply,
    Unusable,
    prompt,
    read,
)
from tests.core.test_courses import course, step, twin
from tests.variants import VARIANTS, long_unless, name

BREACH, SIEGE = load("firewall-breach"), load("cipher-siege")
QUESTIONS = [Question(answer, legal) for answer in (MOVE, MIX) for legal in (True, False)]


def first(game: AnyGame, seed: int = 1) -> View:
    match = Match(game, seed)
    return match.view(match.deciders[0])


def said(match: Match, player: int) -> list[str]:
    """All that a dialogue tells a model, also about wrong answers."""
    found = []
    for question in QUESTIONS:
        dialogue = Dialogue(match.view(player), question._replace(chances=4))
        for text in ("", "MOVE: attack 9 9", "MIX: attack 1 = 50", "MOVE: swap 1 2 3"):
            dialogue.hear(Reply(text))
        found.append(str(dialogue.transcript()))
    return found


@pytest.mark.parametrize(
    "game",
    long_unless(
        lambda game: game.settings().get("values") in ("2", "3"),
        [game for game in VARIANTS if game.private],
    ),
    ids=name,
)
def test_hidden_information_changes_no_byte_of_a_dialogue(game: AnyGame) -> None:
    differed = compared = 0
    for seed in range(1, 30):
        match, clock, randomness = course(game, seed)
        for _ in range(randomness.randrange(seed)):
            clock.tick()
            step(match, randomness)
        if match.result is not None:
            continue
        for player in match.deciders:
            other = twin(match, player, randomness)
            if other is not None and other.deciders == match.deciders:
                compared += 1
                differed += other.state != match.state
                assert said(match, player) == said(other, player)
    assert compared
    assert differed or getattr(game, "values", 2) == 1, "nothing was hidden"


def test_a_sealed_pick_changes_no_byte_of_a_dialogue() -> None:
    game = load("number-clash")
    told = []
    for pick in ("1", "10"):
        match = Match(game, 1)
        match.submit(0, pick)
        told.append(said(match, 1))
    assert told[0] == told[1]


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_every_legal_move_is_read_as_a_move_and_in_a_mix(game: AnyGame) -> None:
    randomness, match = Random(1), Match(game, 1)
    for _ in range(12):
        if match.result is not None:
            break
        for player in match.deciders:
            view = match.view(player)
            for move in view.options:
                for text in (f"MOVE: {move}", f"So:\n> **Move:** `{move}`.", move, move.upper()):
                    assert read(Reply(text), view, Question()) == {move: 1.0}
            share = 100 / len(view.options)
            text = "MIX: " + "; ".join(f"{move} = {share:.3f}%" for move in view.options)
            mixed = read(Reply(f"I mix.\n{text}"), view, Question(MIX))
            assert mixed == pytest.approx(dict.fromkeys(view.options, share / 100))
            match.submit(player, randomness.choice(view.options))


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (Reply(""), UNREADABLE),
        (Reply("I think that attacking is best, as the die favours it."), UNREADABLE),
        (Reply("MOVE: retreat"), UNREADABLE),
        (Reply("MOVE: attack bypass"), UNREADABLE),
        (Reply("MOVE:"), UNREADABLE),
        (Reply("MOVE: attack", "length"), TRUNCATED),
        (Reply("MOVE: attack", "content_filter"), REFUSED),
        (Reply("", refusal="I cannot take part in breaches."), REFUSED),
    ],
)
def test_faults_are_told_apart(reply: Reply, fault: str) -> None:
    with pytest.raises(Unusable) as found:
        read(reply, first(BREACH), Question())
    assert found.value.fault == fault


@pytest.mark.parametrize(
    "text", ["attack", "attack = 60; bypass = 60", "attack = nan", "attack = -50; bypass = 150",
             "attack = 50; attack = 50", "attack = 1e999", "attack = 50;; = 50"],
)  # fmt: skip
def test_a_mix_that_is_none_is_unreadable(text: str) -> None:
    with pytest.raises(Unusable) as found:
        read(Reply(f"MIX: {text}"), first(BREACH), Question(MIX))
    assert found.value.fault == UNREADABLE


def test_a_move_that_is_not_possible_is_illegal() -> None:
    game = load("number-clash")
    match = Match(game, 1)
    match.submit(0, "7")
    match.submit(1, "8")
    with pytest.raises(Unusable) as found:
        read(Reply("MOVE: 7"), match.view(0), Question())
    assert found.value.fault == ILLEGAL


def test_the_last_line_counts_and_the_number_of_chances_is_fixed() -> None:
    view = first(BREACH)
    assert read(Reply("MOVE: attack\nno:\nMOVE: bypass"), view, Question()) == {"bypass": 1.0}
    for chances in (0, 1, 3):
        dialogue = Dialogue(view, Question(chances=chances))
        for number in range(chances + 1):
            assert not dialogue.done
            assert len(dialogue.messages) == 1 + 2 * number
            dialogue.hear(Reply("no"))
        assert dialogue.done
        assert dialogue.forfeited
        assert dialogue.strategy is None
    assert Question().chances == CHANCES


def test_the_seat_is_named_only_if_the_rules_differ_by_seat() -> None:
    """Both seats of an even game have the same prompt, so that they cost one call."""
    match = Match(BREACH, 1)
    one = prompt(match.view(0), Question())
    match.submit(0, "bypass")
    two = prompt(match.view(1)._replace(history=()), Question())
    assert two == one.replace("Opponent: Firewall 10", "Opponent: Firewall X").replace(
        "You: Firewall 10", "You: Firewall 9"
    ).replace("X", "10")
    assert "You are Player 1." in prompt(first(load("firewall-breach", strength="3/7")), Question())


@settings(max_examples=25, deadline=None)
@given(text=st.text(), answer=st.sampled_from([MOVE, MIX]))
def test_any_text_is_a_legal_choice_or_a_fault(text: str, answer: str) -> None:
    view = first(SIEGE)
    for reply in (Reply(text), Reply(f"{answer}: {text}"), Reply(f"{answer}: attack {text} = 100")):
        try:
            found = read(reply, view, Question(answer))
        except Unusable:
            continue
        assert set(found) <= set(view.options)
        assert sum(found.values()) == pytest.approx(1)
