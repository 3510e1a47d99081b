"""Reading what people type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duels.core import Match
from duels.core.errors import DuelsError, IllegalMove, MalformedMove
from duels.core.parsing import expected, read_answer, read_move
from duels.core.presentation import Step, player_name
from duels.core.wire import dump
from duels.core.wire import load as load_wire
from duels.games import BUILT_IN, load

STEPS = {
    "": Step("Choose action:", ("attack", "defend"), refused={"swap": "With six cards no swap."}),
    "attack": Step("Select cards:", ("1", "3", "3", "10"), many=True),
    "defend": Step("Select card:", ("1", "3", "10")),
}


@pytest.mark.parametrize(
    ("typed", "move"),
    [
        ("attack 1 3", "attack 1 3"),
        ("ATTACK 3,1", "attack 1 3"),
        ("  a   3 , 3 ,1 ", "attack 1 3 3"),
        ("att 10 3", "attack 3 10"),
        ("d 010", "defend 10"),
        ("Defend 3", "defend 3"),
    ],
)
def test_generous_typing(typed: str, move: str) -> None:
    assert read_move(STEPS.get, typed) == (move, None)


def test_a_part_of_a_move_leads_to_the_next_step() -> None:
    assert read_move(STEPS.get, "att") == ("attack", STEPS["attack"])
    assert read_move(STEPS.get, "3, 1", so_far="attack") == ("attack 1 3", None)


@pytest.mark.parametrize(
    ("typed", "error", "says"),
    [
        ("", MalformedMove, "Nothing was typed. Choose one of: attack, defend."),
        ("fly", MalformedMove, "I don't know 'fly'. Choose one of: attack, defend."),
        ("swap", IllegalMove, "With six cards no swap. Choose one of: attack, defend."),
        ("sw", IllegalMove, "With six cards no swap."),
        ("attack 2", MalformedMove, "'2' is not available. Choose some of: 1, 3, 10."),
        ("attack 1 1", IllegalMove, "You can use 1 only once."),
        ("attack 3 3 3", IllegalMove, "You can use 3 only twice."),
        ("attack one", MalformedMove, "I don't know 'one'"),
        ("defend 1 3", MalformedMove, "'defend 1' is a complete move; leave out '3'."),
        ("defend 99999999999999999999999", MalformedMove, "is not available"),
        ("\x1b[2J", MalformedMove, r"I don't know '\x1b[2j'"),
        ("x" * 5000, MalformedMove, "xxx…'"),
    ],
)
def test_refusals_say_why(typed: str, error: type[DuelsError], says: str) -> None:
    with pytest.raises(error) as caught:
        read_move(STEPS.get, typed)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("9", "'9' is not available. Choose some of: 1, 3, 10."),
        ("", "Nothing was typed. Choose some of: 1, 3, 10."),
        ("attack 9", "'9' is not available. Choose some of: 1, 3, 10."),
        ("attack 1 1", "You can use 1 only once."),
        ("defend, 9", "'9' is not available. Choose one of: 1, 3, 10."),
        ("swap 1", "I don't know 'swap'. Choose some of: 1, 3, 10."),
    ],
)
def test_after_a_part_of_a_move_the_impossible_word_is_named(typed: str, says: str) -> None:
    with pytest.raises(DuelsError) as caught:
        read_answer(STEPS.get, typed, so_far="attack")
    assert str(caught.value) == says


def test_after_a_part_of_a_move_a_whole_one_is_read() -> None:
    assert read_answer(STEPS.get, "3", so_far="attack") == ("attack 3", None)
    assert read_answer(STEPS.get, "defend 3", so_far="attack") == ("defend 3", None)


def test_a_number_is_never_taken_for_the_beginning_of_another() -> None:
    step = {"": Step("Number:", ("10", "12"))}
    with pytest.raises(MalformedMove):
        read_move(step.get, "1")


def test_an_ambiguous_beginning_names_what_it_could_be() -> None:
    step = {"": Step("Action:", ("attack", "attach"))}
    with pytest.raises(MalformedMove, match="'att' could be attack or attach"):
        read_move(step.get, "att")
    assert read_move(step.get, "attack") == ("attack", None)


def test_what_is_expected_lists_each_choice_once() -> None:
    assert expected(STEPS["attack"]) == "Choose some of: 1, 3, 10."
    assert expected(None) == ""


@given(st.text())
def test_anything_typed_is_read_or_refused(text: str) -> None:
    try:
        move, step = read_move(STEPS.get, text)
    except DuelsError as error:
        move, step, said = "attack", None, str(error)
    else:
        said = "read"
    assert said.isprintable()
    assert move.split()[0] in ("attack", "defend")
    assert step is None or step in STEPS.values()


@pytest.mark.parametrize("slug", BUILT_IN)
def test_a_client_can_leave_out_the_name_and_the_listed_choices(slug: str) -> None:
    """No client has to look for them in the text of the prompt."""
    match = Match(load(slug), seed=1)
    for player in match.deciders:
        step = match.game.ask(match.view(player).observation, player, "")
        assert step is not None
        assert step.kind
        assert player_name(player) not in step.question
        assert not step.listing or step.listing not in step.question
        assert step.worded("", "") == step.question
        assert step.worded(step.name, step.listing) == step.prompt
        assert load_wire(dump(step)) == step
