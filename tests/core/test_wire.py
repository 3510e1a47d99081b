"""The JSON of docs/reference/wire.md, for every game; stale moves; offers."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duels.core.conformance import play_randomly
from duels.core.errors import DuelsError, IllegalMove, RecordError, StaleMove
from duels.core.game import Pick
from duels.core.match import Match, Undo
from duels.core.narrator import narrate
from duels.core.presentation import Sealed, Step, tone, tree
from duels.core.views import choice_of, table_of
from duels.core.wire import TYPES, dump, dump_view, load, load_observation, load_view
from duels.games import load as load_game
from tests.variants import VARIANTS, name


@pytest.mark.parametrize("game", VARIANTS, ids=name)
def test_passages_survive_json(game: Any) -> None:
    match = play_randomly(game, 3, Random(3), turn_limit=30)
    for viewer in (0, 1, None):
        for passage in narrate(match, viewer):
            again = load(json.loads(json.dumps(dump(passage))))
            assert again == passage
            assert [tone(line) for line in again.lines] == [tone(line) for line in passage.lines]


def types(data: Any) -> set[str]:
    """Every type named anywhere in JSON values."""
    if isinstance(data, list):
        return {kind for item in data for kind in types(item)}
    if isinstance(data, dict):
        own = {data["type"]} if "type" in data else set()
        return own | types(list(data.values()))
    return set()


def test_every_kind_of_part_is_shown_by_some_game() -> None:
    found: set[str] = set()
    for slug in ("firewall-breach", "number-clash", "cipher-siege", "digit-duel", "number-wars"):
        match = Match(load_game(slug), seed=1)
        match.submit(match.deciders[0], match.view(match.deciders[0]).options[0])
        found |= types(dump_view(match.view(0)))
    parts = {"meter", "tokens", "hand", "pile", "die", "sealed", "score", "item"}
    assert parts <= found <= set(TYPES) | {"view", "game", "observation", "line"}


def test_observations_go_by_field_names_and_players_are_1_and_2() -> None:
    match = Match(load_game("firewall-breach"), seed=1)
    match.submit(0, "bypass")
    data = dump_view(match.view(1))
    assert data["observation"] == {
        "type": "observation",
        "game": "firewall-breach",
        "fields": {"strength": [10, 9], "mover": 2, "rolling": False},
    }
    assert load_observation(match.game, data["observation"]) == match.state
    assert (data["player"], data["moment"], data["options"]) == (2, 1, ["attack", "bypass"])
    assert data["history"] == [{"type": "pick", "moves": {"1": "bypass"}}]


def test_cards_and_tokens_name_the_choice_they_stand_for() -> None:
    match = Match(load_game("cipher-siege"), seed=4)
    data = dump_view(match.view(0))
    own, other = (part for part in data["table"] if part["type"] == "hand")
    assert (own["owner"], own["id"], other["id"]) == (1, "hand-1-1", "hand-2-1")
    attack = data["choice"]["after"]["attack"]["step"]
    assert [card["choice"] for card in own["cards"]] == attack["choices"]
    assert other["cards"] == []
    assert data["choice"]["after"]["swap"]["after"][attack["choices"][0]] is None


def test_a_sealed_card_says_whether_a_pick_is_in() -> None:
    match = Match(load_game("number-clash"), seed=4)
    match.submit(1, "3")
    sealed = [part for part in table_of(match.view(0)) if isinstance(part, Sealed)]
    assert [(part.owner, part.placed) for part in sealed] == [(0, False), (1, True)]
    assert choice_of(match.view(1)) is None
    assert "'3'" not in repr(match.view(None).history)


def test_a_view_of_another_version_is_refused() -> None:
    data = dump_view(Match(load_game("digit-duel"), seed=1).view(0))
    with pytest.raises(RecordError, match="expected a view of version 1; got 2"):
        load_view({**data, "version": 2}, load_game)


def test_a_move_for_another_moment_is_refused_and_changes_nothing() -> None:
    match = Match(load_game("number-wars"), seed=1)
    match.submit(0, "7", at=match.view(0).version)
    with pytest.raises(StaleMove, match="meant for moment 0; the match is at moment 1"):
        match.submit(1, "7", at=0)
    match.submit(1, "7", at=1)
    match.undo(1)
    with pytest.raises(StaleMove):
        match.submit(1, "9", at=1)
    with pytest.raises(StaleMove):
        match.resign(1, at=1)
    assert match.events == [Pick(((0, "7"),)), Pick(((1, "7"),)), Undo(1, 1)]


def test_an_undo_between_people_is_an_offer_that_the_other_accepts() -> None:
    match = Match(load_game("number-wars"), seed=1)
    with pytest.raises(IllegalMove, match="nothing to undo"):
        match.offer_undo(0)
    match.submit(0, "7")
    match.offer_undo(0)
    assert match.offer == Undo(0, 0)
    assert [dump_view(match.view(viewer))["offer"] for viewer in (0, 1, None)] == [1, 1, 1]
    with pytest.raises(StaleMove):
        match.accept_undo(1, at=0)
    with pytest.raises(IllegalMove, match="no undo was requested"):
        match.accept_undo(0)
    match.decline_undo(1)
    with pytest.raises(IllegalMove, match="no undo was requested"):
        match.accept_undo(1)
    match.offer_undo(0)
    match.submit(1, "5")
    assert match.offer is None, "a move is an answer"
    match.offer_undo(0)
    match.accept_undo(1)
    assert (match.state.used, match.events[-1]) == (((), ()), Undo(0, 0))
    told = [line for passage in narrate(match, None) for line in passage.lines]
    assert "(Player 1 takes back a move.)" in told


def test_a_choice_may_be_called_type() -> None:
    steps = {"": Step("Pick:", ("type", "line"), refused={"type": "Not now."})}
    whole = tree(steps.get)
    assert load(json.loads(json.dumps(dump(whole)))) == whole


def test_what_the_wire_does_not_have_is_not_written() -> None:
    for value in (Fraction(1, 2), {1}, b"x", object()):
        with pytest.raises(TypeError, match="no JSON encoding for"):
            dump(("kept", value))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.sampled_from(sorted(TYPES)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "moves", "players", "lines", "after", "owner", "text", "step"]
            ),
            inner,
        )
    ),
)


@given(ANYTHING)
@settings(deadline=None)
def test_other_json_is_refused_or_read_and_nothing_else(data: Any) -> None:
    with suppress(RecordError):
        load(data)
    with pytest.raises(RecordError):
        load_view(data, load_game)


@given(st.data())
@settings(deadline=None)
def test_a_view_with_something_else_in_it_is_refused_or_read(data: st.DataObject) -> None:
    view = dump_view(Match(load_game("cipher-siege"), seed=4).view(0))
    view[data.draw(st.sampled_from(sorted(view)))] = data.draw(ANYTHING)
    with suppress(DuelsError):
        load_view(view, load_game)


def test_a_view_without_its_history_does_not_grow_with_the_match() -> None:
    match = Match(load_game("firewall-breach", strength=999, hit=1), seed=1)
    sizes = []
    while match.result is None:
        match.submit(match.deciders[0], "attack")
        chooser = next(iter(match.deciders), 0)
        sizes.append(len(json.dumps(dump_view(match.view(chooser), history=False))))
    assert max(sizes) < 1.5 * min(sizes)
    view = dump_view(match.view(0), history=False)
    assert load_view(view, load_game) == match.view(0)._replace(history=())


def test_there_are_two_players_and_spectators_and_no_other_viewers() -> None:
    match = Match(load_game("cipher-siege"), seed=4)
    for viewer in (2, -1, "0", 0.5):
        looks: list[Any] = [match.view, match.log, lambda v: match.view_before(0, v)]
        for look in looks:
            with pytest.raises(IllegalMove, match="there is no viewer"):
                look(viewer)


def test_a_viewer_who_has_read_the_ending_does_not_read_it_again() -> None:
    match = Match(load_game("digit-duel"), seed=4)
    match.submit(0, "7")
    match.resign(1)
    assert [p.kind for p in narrate(match, 0, since=2)] == ["ending"]
    assert list(narrate(match, 0, since=len(match.log(0)))) == []
    assert list(narrate(match, 0, since=-3)) == list(narrate(match, 0))
