"""Conformance tests for any game, run over random matches. A new game's tests call `check`.

>>> from duels.games import load
>>> check(load("digit-duel", digits=3), matches=2).matches
2
"""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from functools import lru_cache, partial
from random import Random
from typing import NamedTuple

from duels.core.game import (
    AnyGame,
    Chance,
    Decide,
    Event,
    Game,
    Move,
    Outcome,
    Pick,
    state_from_json,
    state_to_json,
)
from duels.core.match import Match
from duels.core.narrator import narrate
from duels.core.parsing import read_move
from duels.core.presentation import Hand, Part, Tokens, Tree
from duels.core.record import dumps, loads, redacted
from duels.core.views import choice_of, table_of
from duels.core.wire import dump, dump_view, load_view
from duels.core.wire import load as load_wire

VIEWERS = (0, 1, None)
LOOKS = 4  # views of a match that are checked for each viewer


class Report(NamedTuple):
    """How much was checked: a check without cases proves nothing."""

    matches: int
    states: int
    doubles: int  # states other than the true one with the same observation


def check(game: AnyGame, matches: int = 20, seed: int = 0) -> Report:
    """Play random matches and check every requirement of the core on them."""
    randomness = Random(f"{game!r} {seed}")
    states = doubles = 0
    for number in range(matches):
        match = play_randomly(game, seed + number, randomness)
        for event_number in range(len(match.events)):
            check_state(game, match.state_before(event_number))
            states += 1
        choices = sum(isinstance(event, Pick) for event in match.events)
        most = game.longest()
        assert most is None or choices <= most, "a game is longer than the longest"
        check_payoff(match)
        check_recall(match)
        check_texts(match)
        check_replay(match)
        check_wire(match, randomness)
        for viewer in VIEWERS:
            doubles += check_no_leak(match, viewer, randomness)
    return Report(matches, states, doubles)


def play_randomly(game: AnyGame, seed: int, randomness: Random, turn_limit: int = 500) -> Match:
    """A finished match in which both players choose at random."""
    match = Match(game, seed, turn_limit=turn_limit)
    while match.result is None:
        for player in match.deciders:
            match.submit(player, randomness.choice(match.view(player).options))
    return match


@lru_cache(maxsize=8)
def all_moves(game: AnyGame) -> frozenset[Move]:
    """The moves that a game lists, as a set."""
    return frozenset(game.moves())


def listed(game: AnyGame) -> bool:
    """Whether a game lists its moves and encodes observations, for programs that want numbers."""
    kind = type(game)
    said = [getattr(kind, name) is not getattr(Game, name) for name in NUMBERS]
    assert all(said) or not any(said), f"a game says all of {', '.join(NUMBERS)}, or none"
    return all(said)


NUMBERS = ("moves", "features", "encode")


def check_state(game: AnyGame, state: tuple[object, ...]) -> None:
    """Check that a state is a plain value, odds sum to 1, options are listed and can be typed."""
    turn = game.turn(state)
    copy = state_from_json(game, json.loads(json.dumps(state_to_json(state))))
    assert copy == state, "a state must survive JSON"
    assert hash(copy) == hash(state), "equal states must hash alike"
    if isinstance(turn, Chance):
        assert all(isinstance(odd, Fraction) and odd > 0 for odd in turn.odds.values())
        assert sum(turn.odds.values()) == 1, "odds must sum to 1"
    elif isinstance(turn, Decide):
        assert game.timeout_move is None or len(turn.options) == 1
        for player, options in turn.options.items():
            assert options, "a player must choose from no options"
            assert len(set(options)) == len(options), "an option is listed twice"
            missing = listed(game) and not all_moves(game).issuperset(options)
            assert not missing, "an option is missing in `moves`"
            seen = game.observe(state, player)
            for move in options:
                read = read_move(partial(game.ask, seen, player), move)
                assert read == (move, None), f"{move!r} cannot be typed: read as {read}"
    for viewer in VIEWERS:
        hash(game.observe(state, viewer))
    for player in (0, 1) if listed(game) else ():
        numbers = game.encode(game.observe(state, player), player)
        assert len(numbers) == len(game.features()), "a number for each feature"
        assert all(isinstance(number, int) and number >= 0 for number in numbers)
        if most := game.bounds():
            pairs = zip(numbers, most, strict=True)
            assert all(number <= bound for number, bound in pairs), "a number is out of bounds"


def check_payoff(match: Match) -> None:
    """A win pays within the bound that the game declares, and 1 where that is 1."""
    most, result = match.game.highest_payoff(), match.result
    assert most >= 1, "highest_payoff must be at least 1"
    assert result is not None
    if result.winner is not None:
        assert 0 < result.payoff <= most, f"a win pays {result.payoff}; highest_payoff is {most}"
        assert most > 1 or result.payoff == 1, "a win pays less than 1: highest_payoff must tell"


def check_recall(match: Match) -> None:
    """Check that the numbers of `recall` are within their bounds throughout a match."""
    most = tuple(match.game.recalled().values())
    for player in (0, 1) if most else ():
        history = match.view(player).history
        for length in range(len(history) + 1):
            numbers = match.game.recall(history[:length], player)
            assert len(numbers) == len(most), "a number for each thing recalled"
            pairs = zip(numbers, most, strict=True)
            assert all(0 <= number <= bound for number, bound in pairs), "recalled out of bounds"


def check_texts(match: Match) -> None:
    """Check that every event can be narrated and the table shown to every viewer."""
    game = match.game
    assert match.result is not None
    assert game.rules_text()
    for viewer in VIEWERS:
        passages = list(narrate(match, viewer))
        lines = [line for passage in passages for line in passage.lines]
        assert all(isinstance(line, str) and "\n" not in line for line in lines)
        assert passages[-1].kind == "ending"
        assert passages[-1].lines
        half = len(match.events) // 2
        later = [p for p in passages if p.number >= half + (p.kind == "status")]
        assert list(narrate(match, viewer, since=half)) == later[not half :] or not half


def check_replay(match: Match) -> None:
    """Check that replaying the record gives the same states."""

    def same_game(slug: str, **options: object) -> AnyGame:
        assert slug == match.game.slug
        return type(match.game)(**options)

    again = loads(dumps(match), same_game)
    assert again.game == match.game
    assert again.events == match.events
    assert again.result == match.result
    numbers = range(len(match.events))
    assert [again.state_before(n) for n in numbers] == [match.state_before(n) for n in numbers]
    assert again.state == match.state


def check_wire(match: Match, randomness: Random) -> None:
    """Check that views survive JSON and are sufficient for a client to choose."""
    game = match.game

    def same_game(slug: str, **options: object) -> AnyGame:
        return type(game)(**options)

    for viewer in VIEWERS:
        numbers = randomness.sample(range(len(match.events)), min(LOOKS, len(match.events)))
        views = [match.view_before(number, viewer) for number in numbers]
        for view in [*views, match.view(viewer)]:
            sent = json.loads(json.dumps(dump_view(view)))
            again = load_view(sent, same_game)
            assert again == view, "a view must survive JSON"
            assert load_wire(sent["choice"]) == choice_of(view) == choice_of(again)
            table = table_of(view)
            assert table == table_of(again), "a client draws another table"
            assert all(isinstance(part, Part) for part in table)
            assert load_wire(sent["table"]) == tuple(table), "a table must survive JSON"
            assert len({part["id"] for part in sent["table"]}) == len(table)
            if view.options:
                _check_choice(view.options, choice_of(view), table, viewer)
        log = match.log(viewer)
        assert [logged.number for logged in log] == list(range(len(match.events) + 1))
        assert log[-1].entry == match.result
        assert load_wire(json.loads(json.dumps(dump(log)))) == log, "a log must survive JSON"
        half = len(log) // 2
        assert match.log(viewer, since=half) == log[half:]
        assert "seed" not in redacted(match, viewer)


def _check_choice(
    options: tuple[Move, ...], choice: Tree | None, table: list[Part], viewer: int | None
) -> None:
    assert choice is not None
    moves, words = _moves_of(choice)
    assert moves == set(options), "the steps of a choice lead to other moves than the options"
    for part in table:
        items = part.items if isinstance(part, Tokens) else ()
        items += part.cards if isinstance(part, Hand) else ()
        for item in items:
            assert not item.choice or part.owner == viewer, "a card to choose is not the viewer's"
            assert not item.choice or item.choice in words, f"no step asks for {item.choice}"


def _moves_of(choice: Tree) -> tuple[set[Move], set[str]]:
    """Every move in a tree, and every word that is a choice or a known refusal in it."""
    step, moves = choice.step, set()
    assert step.worded(step.name, step.listing) == step.prompt, "a prompt differs from its parts"
    words = {*step.choices, *step.refused}
    if step.many:
        sizes = range(1, len(step.choices) + 1)
        parts = (part for n in sizes for part in itertools.combinations(step.choices, n))
        return {" ".join(part) for part in parts}, words
    for word, after in choice.after.items():
        if after is None:
            moves.add(word)
            continue
        rest, more = _moves_of(after)
        moves |= {f"{word} {end}" for end in rest}
        words |= more
    return moves, words


def check_no_leak(match: Match, viewer: int | None, randomness: Random) -> int:
    """Check a random line of play that is indistinguishable from the true one for a viewer.

    Throughout, that viewer must get the same observation, options, history and text. Returns how
    many states differed from the true ones.
    """
    game = match.game
    state = game.start()
    met = 0
    for number, entry in enumerate(match.events):
        true = match.state_before(number)
        met += state != true
        secret = state != true and viewer is not None
        assert game.private or not secret, "a player cannot know the state: say private = True"
        assert game.observe(state, viewer) == game.observe(true, viewer), "observations leak"
        _same_turn(game, state, true, viewer)
        if not isinstance(entry, Pick | Outcome):
            break
        wanted = game.redact(true, entry, viewer)
        fits = [
            event for event in _events(game, state) if game.redact(state, event, viewer) == wanted
        ]
        if not fits:
            break  # no event of the other line looks like the true one; up to here all was equal
        after = _after(game, state, event := randomness.choice(fits))
        lines = game.tell(game.observe(state, viewer), wanted, game.observe(after, viewer), viewer)
        before, seen, later = match.shown(number, viewer)
        assert seen == wanted
        assert lines == game.tell(before, wanted, later, viewer), f"the text leaks after {event}"
        state = after
    return met


def _same_turn(game: AnyGame, state: tuple[object, ...], true: object, viewer: int | None) -> None:
    turn, true_turn = game.turn(state), game.turn(true)
    assert type(turn) is type(true_turn), "what happens next leaks"
    if isinstance(turn, Decide) and isinstance(true_turn, Decide):
        assert turn.options.keys() == true_turn.options.keys(), "who chooses leaks"
        if viewer is not None and viewer in turn.options:
            assert turn.options[viewer] == true_turn.options[viewer], "options leak"


def _events(game: AnyGame, state: tuple[object, ...]) -> list[Event]:
    turn = game.turn(state)
    if isinstance(turn, Chance):
        return [Outcome(outcome, turn.by) for outcome in turn.odds]
    assert isinstance(turn, Decide)
    moves = [[(player, move) for move in turn.options[player]] for player in sorted(turn.options)]
    return [Pick(combination) for combination in itertools.product(*moves)]


def _after(game: AnyGame, state: tuple[object, ...], event: Event) -> tuple[object, ...]:
    after: tuple[object, ...]
    if isinstance(event, Outcome):
        after = game.play(state, event.outcome)
    else:
        after = game.play(state, *(move for _, move in event.moves))
    return after
