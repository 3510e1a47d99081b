"""What bots see in each game: described from code, complete, and the same on the page."""

from __future__ import annotations

import json
import re

import pytest

from duels.core.match import Match
from duels.core.wire import load_view
from duels.games import BUILT_IN, find, load
from duels.games.cipher_siege.rules import CipherSiege
from duels.players.check import variants
from duels.players.describe import describe, message
from duels.players.external import read_answer
from tests.plugins.goofspiel import Goofspiel
from tools.observations import page, place

ONE_HAND = CipherSiege(values=1, copies=5, hand=2)  # a player may run out of cards


def pattern(form: str) -> str:
    """A regular expression of the moves that have a form."""
    return re.sub(r"[A-Z]+ …", r"\\d+( \\d+)*", re.sub(r"[A-Z]+(?! …)\b", r"\\d+", form))


def test_the_page_is_that_of_the_code() -> None:
    assert place().read_text(encoding="utf-8") == page(), "run: python3 tools/observations.py"


@pytest.mark.parametrize("slug", BUILT_IN)
def test_every_field_and_every_move_is_described(slug: str) -> None:
    kind = find(slug)
    found = describe(kind)
    assert [field.name for field in found.fields] == list(kind.about_fields)
    assert all(field.about and "JSON value" not in field.type for field in found.fields)
    games = [*variants(kind), *([ONE_HAND] if kind is CipherSiege else [])]
    moves = {move for game in games for move in game.moves()}
    used = set()
    for move in moves:
        (form,) = [form for form in kind.about_moves if re.fullmatch(pattern(form), move)]
        used.add(form)
    assert used == set(kind.about_moves)


@pytest.mark.parametrize("slug", BUILT_IN)
def test_every_kind_of_choice_has_an_example_that_can_be_answered(slug: str) -> None:
    kind = find(slug)
    found = describe(kind)
    for example in found.examples:
        assert json.loads("\n".join(message(example.request))) == example.request
        view = load_view(example.request["view"], load)
        step = view.game.ask(view.observation, view.player or 0, "")
        assert step is not None
        assert step.kind == example.kind
        for move in view.options:
            assert read_answer({"move": move}, view.options) == move
    kinds = {(example.kind, example.sealed) for example in found.examples}
    for game in variants(kind):  # other matches than those of the examples
        for seed in range(20, 25):
            match = Match(game, seed)
            while match.result is None:
                for player in match.deciders:
                    view = match.view(player)
                    step = game.ask(view.observation, player, "")
                    assert step is not None
                    assert (step.kind, len(match.deciders) > 1 or bool(view.sealed)) in kinds
                    match.submit(player, view.options[seed % len(view.options)])


def test_a_game_that_says_nothing_of_itself_is_listed_from_its_types() -> None:
    found = describe(Goofspiel)
    assert Goofspiel.about_fields == {}
    assert all(field.type for field in found.fields)
    assert list(found.moves)
    assert found.examples
    text = "\n".join(found.text())
    for field in found.fields:
        assert f"  {field.name}" in text
