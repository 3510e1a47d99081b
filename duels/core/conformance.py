"""Conformance tests for any game, run over random matches. A new game's tests call `check`.

An AssertionError says what was wrong, in which method, and what to change.

>>> from duels.games import load
>>> check(load("digit-duel", digits=3), matches=2).matches
2
"""

from __future__ import annotations

import itertools
import json
import traceback
from fractions import Fraction
from functools import lru_cache, partial
from random import Random
from typing import NamedTuple

from duels.core.errors import IllegalMove
from duels.core.game import (
    AnyGame,
    Chance,
    Decide,
    Event,
    Game,
    Move,
    Outcome,
    Over,
    Pick,
    state_from_json,
    state_to_json,
)
from duels.core.match import Match
from duels.core.narrator import captions, narrate
from duels.core.parsing import read_move
from duels.core.presentation import ON_TABLE, Hand, Names, Part, Tokens, Tree, player_name, tone
from duels.core.record import dumps, loads, redacted
from duels.core.views import choice_of, table_of
from duels.core.wire import dump, dump_view, load_view
from duels.core.wire import load as load_wire

VIEWERS = (0, 1, None)
LOOKS = 4  # views of a match that are checked for each viewer


class Report(NamedTuple):
    """The number of cases that were checked; a check without cases proves nothing."""

    matches: int
    states: int
    doubles: int  # states other than the true one with the same observation
    secrets: int  # events that a player was not shown in full, and that could have been others


def check(game: AnyGame, matches: int = 20, seed: int = 0) -> Report:
    """Play random matches and check every requirement of the core on them."""
    try:
        return _check(game, matches, seed)
    except AssertionError:
        raise
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1].name
        raise AssertionError(
            f"{where}() fails with {error!r}: every method must accept what the others return: "
            "turn() and play() each other's states and moves, the others what observe() and "
            "redact() return"
        ) from error


def _check(game: AnyGame, matches: int, seed: int) -> Report:
    randomness = Random(f"{game!r} {seed}")
    states = doubles = secrets = 0
    for number in range(matches):
        states += walk(game, randomness)
        match = play_randomly(game, seed + number, randomness)
        choices = sum(isinstance(event, Pick) for event in match.events)
        most = game.longest()
        assert most is None or choices <= most, (
            f"a match had {choices} choices and longest() is {most}: return the most there can be, "
            "or None"
        )
        check_payoff(match)
        check_recall(match)
        check_texts(match)
        check_replay(match)
        check_wire(match, randomness)
        for viewer in VIEWERS:
            doubles += check_no_leak(match, viewer, randomness)
        secrets += count_secrets(match)
    return Report(matches, states, doubles, secrets)


def walk(game: AnyGame, randomness: Random, turn_limit: int = 500) -> int:
    """Check the states of a random line of play, without a match; returns how many there were."""
    state, choices = game.start(), 0
    for number in itertools.count(1):
        check_state(game, state)
        turn = game.turn(state)
        choices += isinstance(turn, Decide)
        if isinstance(turn, Over) or choices > turn_limit:
            return number
        state = _after(game, state, randomness.choice(_events(game, state)))
    raise AssertionError("the count has no end")


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
    missing = [name for name, there in zip(NUMBERS, said, strict=True) if not there]
    assert not missing or not any(said), (
        f"a game for programs needs all of {', '.join(NUMBERS)}: write also {', '.join(missing)}"
    )
    return all(said)


NUMBERS = ("moves", "features", "encode")


def check_state(game: AnyGame, state: tuple[object, ...]) -> None:
    """Check that a state is a plain value, odds sum to 1, options are listed and can be typed."""
    turn = game.turn(state)
    copy = state_from_json(game, json.loads(json.dumps(state_to_json(state))))
    assert copy == state, (
        f"{state} comes back from JSON as {copy}: a state is a NamedTuple of numbers, texts, truth "
        "values, None and tuples of these"
    )
    assert hash(copy) == hash(state), (
        f"{state} and an equal state have different hashes: define no __hash__"
    )
    if isinstance(turn, Chance):
        odds = dict(turn.odds)
        assert all(isinstance(odd, Fraction) and odd > 0 for odd in odds.values()), (
            f"turn() has the odds {odds} in {state}: each must be a Fraction above 0; leave out "
            "what cannot happen"
        )
        total = sum(odds.values())
        assert total == 1, (
            f"odds must sum to 1: turn() has {odds}, which sum to {total}, in {state}"
        )
    elif isinstance(turn, Decide):
        assert game.timeout_move is None or len(turn.options) == 1, (
            f"both players choose in {state}: a game with timeout_move has no simultaneous choices"
        )
        for player, options in turn.options.items():
            who = f"Player {player + 1} in {state}"
            assert options, (
                f"turn() has no options for {who}: leave the player out, or end the game"
            )
            twice = sorted({move for move in options if options.count(move) > 1})
            assert not twice, f"turn() lists {twice} twice for {who}: list each move once"
            unlisted = sorted(set(options) - all_moves(game)) if listed(game) else []
            assert not unlisted, (
                f"moves() lacks {unlisted}, options of {who}: list every move there"
            )
            seen = game.observe(state, player)
            for move in options:
                read: object
                try:
                    read = read_move(partial(game.ask, seen, player), move)
                except IllegalMove as error:
                    read = str(error)
                assert read == (move, None), (
                    f"{move!r} is an option of {who} and cannot be typed (it is read as {read}): "
                    "ask() must offer its words one step after another, then return None"
                )
    for viewer in VIEWERS:
        hash(game.observe(state, viewer))
    for player in (0, 1) if listed(game) else ():
        numbers = game.encode(game.observe(state, player), player)
        names = game.features()
        assert len(numbers) == len(names), (
            f"encode() gives {len(numbers)} numbers and features() {len(names)} names: "
            "give one each"
        )
        low = [n for n, number in zip(names, numbers, strict=True) if not _is_count(number)]
        assert not low, f"encode() must give a whole number from 0 up for {low} in {state}"
        if most := game.bounds():
            assert len(most) == len(names), "bounds() must have a number for each of features()"
            pairs = zip(names, numbers, most, strict=True)
            high = [f"{n} is {number} of {bound}" for n, number, bound in pairs if number > bound]
            assert not high, f"encode() exceeds bounds() in {state} ({high}): raise the bound"


def _is_count(number: object) -> bool:
    return isinstance(number, int) and number >= 0


def check_payoff(match: Match) -> None:
    """A win pays within the bound that the game declares, and 1 where that is 1."""
    most, result = match.game.highest_payoff(), match.result
    assert most >= 1, f"highest_payoff() is {most} and must be at least 1"
    assert result is not None
    if result.winner is not None:
        assert 0 < result.payoff <= most, (
            f"a win pays {result.payoff} and highest_payoff() is {most}: return the most there can "
            "be; a payoff is above 0, as the winner is paid"
        )
        assert most > 1 or result.payoff == 1, (
            f"a win pays {result.payoff} and highest_payoff() is 1: where wins pay differently it "
            "must be above 1, so that values are expected payoffs"
        )


def check_recall(match: Match) -> None:
    """Check that the numbers of `recall` are within their bounds throughout a match."""
    most = tuple(match.game.recalled().values())
    for player in (0, 1) if most else ():
        history = match.view(player).history
        for length in range(len(history) + 1):
            numbers = match.game.recall(history[:length], player)
            assert len(numbers) == len(most), "recall() must have a number for each of recalled()"
            pairs = zip(numbers, most, strict=True)
            assert all(0 <= number <= bound for number, bound in pairs), (
                f"recall() gives {numbers}, beyond the bounds {most} of recalled(): raise them"
            )


def check_texts(match: Match) -> None:
    """Check that every event can be narrated and the table shown to every viewer."""
    game = match.game
    assert match.result is not None
    assert game.rules_text(), "there is no text of the rules: write it as `rules`"
    for viewer in VIEWERS:
        passages = list(narrate(match, viewer))
        lines = [line for passage in passages for line in passage.lines]
        broken = [line for line in lines if not isinstance(line, str) or "\n" in line]
        assert not broken, f"{broken}: opening, status, tell and ending give lists of single lines"
        if game.status_on_table:
            statuses = [line for told in passages if told.kind == "status" for line in told.lines]
            assert all(not line.strip() or tone(line) == ON_TABLE for line in statuses), (
                "status_on_table is set, but status() has lines without the tone of on_table()"
            )
        assert passages[-1].kind == "ending"
        assert passages[-1].lines, "ending() gives no lines: tell who has won, as verdict() does"
        check_captions(match, viewer)
        half = len(match.events) // 2
        later = [p for p in passages if p.number >= half + (p.kind == "status")]
        assert list(narrate(match, viewer, since=half)) == later[not half :] or not half


def check_captions(match: Match, viewer: int | None) -> None:
    """Check that every event has a caption, with the names of the players as they are given."""
    told = list(captions(match, Names(NAMED, viewer)))
    for number, caption in told:
        text = f"{caption.text} {caption.detail}"
        assert caption.text, f"caption() gives no text for event {number}"
        assert "\n" not in text, f"{text!r}: caption() gives single lines"
        assert all(player_name(player) not in text for player in (0, 1)), (
            f"{text!r} names a player by the seat: caption() must use the names that it is given"
        )
    assert told[-1][0] == len(match.events)


NAMED = ("Ada", "Bob")


def check_replay(match: Match) -> None:
    """Check that replaying the record gives the same states."""

    def same_game(slug: str, **options: object) -> AnyGame:
        assert slug == match.game.slug
        return type(match.game)(**options)

    again = loads(dumps(match), same_game)
    assert again.game == match.game
    assert again.events == match.events, f"{PURE}, but replaying a record gives other events"
    assert again.result == match.result, f"{PURE}, but replaying a record gives another result"
    numbers = range(len(match.events))
    states = [again.state_before(n) for n in numbers], [match.state_before(n) for n in numbers]
    assert states[0] == states[1], f"{PURE}, but replaying a record gives other states"
    assert again.state == match.state, f"{PURE}, but replaying a record gives another last state"


PURE = "turn() and play() must depend on nothing but their arguments and the options"


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
            assert again == view, (
                f"the observation {view.observation} comes back from JSON as {again.observation}: "
                "annotate its fields with their types, a player with Seat"
            )
            assert load_wire(sent["choice"]) == choice_of(view) == choice_of(again), (
                "ask() gives other steps for an observation sent as JSON: use nothing but the "
                "observation"
            )
            table = table_of(view)
            assert table == table_of(again), (
                "table() differs for an observation sent as JSON: use nothing but the observation"
            )
            assert all(isinstance(part, Part) for part in table), (
                "table() must give parts of duels.core.presentation"
            )
            assert load_wire(sent["table"]) == tuple(table), (
                "a part of table() changes through JSON"
            )
            assert len({part["id"] for part in sent["table"]}) == len(table), (
                "two parts of table() have one name and one owner: give them different names"
            )
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
    assert choice is not None, "ask() asks nothing where turn() has options: return a Step"
    moves, words = _moves_of(choice)
    assert moves == set(options), (
        f"the steps of ask() and the options of turn() differ in {sorted(moves ^ set(options))}: "
        "ask() must lead to every option and to nothing else"
    )
    for part in table:
        items = part.items if isinstance(part, Tokens) else ()
        items += part.cards if isinstance(part, Hand) else ()
        for item in items:
            assert not item.choice or part.owner == viewer, (
                f"{part.label} of another player can be clicked: Item(face, choice) with a choice "
                "is for the viewer's own cards"
            )
            assert not item.choice or item.choice in words, (
                f"{part.label} offers {item.choice!r}, which no step asks for: ask() must have it "
                "among its choices or refusals"
            )


def _moves_of(choice: Tree) -> tuple[set[Move], set[str]]:
    """Every move in a tree, and every word that is a choice or a known refusal in it."""
    step, moves = choice.step, set()
    assert step.worded(step.name, step.listing) == step.prompt, (
        f"the prompt {step.prompt!r} differs from its parts: make the step with question()"
    )
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
        assert game.private or not secret, (
            f"{_named(viewer)} cannot tell {state} from {true}: set private = True, or show more "
            "in redact()"
        )
        _same_turn(game, state, true, viewer)
        if not isinstance(entry, Pick | Outcome):
            break
        wanted = game.redact(true, entry, viewer)
        fits = [
            event for event in _events(game, state) if game.redact(state, event, viewer) == wanted
        ]
        if not fits:
            break  # no event of the other line looks like the true one; up to here all was equal
        after = _after(game, state, randomness.choice(fits))
        before, seen, later = match.shown(number, viewer)
        assert seen == wanted
        other = game.observe(after, viewer)
        assert other == later, (
            f"observe() shows {_named(viewer)} {later} or {other}, though all events looked alike: "
            f"{REVEAL}"
        )
        lines = game.tell(game.observe(state, viewer), wanted, other, viewer)
        told = game.tell(before, wanted, later, viewer)
        assert lines == told, (
            f"tell() says {told} or {lines} to {_named(viewer)}, who sees the same: use nothing "
            "but the observations and the event as given"
        )
        one = game.caption(game.observe(state, viewer), wanted, other, Names(NAMED, viewer))
        two = game.caption(before, wanted, later, Names(NAMED, viewer))
        assert one == two, (
            f"caption() says {one} or {two} to {_named(viewer)}, who sees the same: use nothing "
            "but the observations and the event as given"
        )
        state = after
    return met


def _same_turn(game: AnyGame, state: tuple[object, ...], true: object, viewer: int | None) -> None:
    turn, true_turn = game.turn(state), game.turn(true)
    differ = f"{state} and {true}, which look alike to {_named(viewer)}: {REVEAL}"
    assert type(turn) is type(true_turn), f"what happens next differs in {differ}"
    if isinstance(turn, Decide) and isinstance(true_turn, Decide):
        assert turn.options.keys() == true_turn.options.keys(), f"who chooses differs in {differ}"
        if viewer is not None and viewer in turn.options:
            assert turn.options[viewer] == true_turn.options[viewer], (
                f"the options of the player differ in {differ}"
            )


def count_secrets(match: Match) -> int:
    """How many events were not shown to a player in full though they could have been others."""
    found = 0
    for number, entry in enumerate(match.events):
        if isinstance(entry, Pick | Outcome):
            state = match.state_before(number)
            several = len(_events(match.game, state)) > 1
            found += several * sum(match.game.redact(state, entry, p) != entry for p in (0, 1))
    return found


REVEAL = (
    "hide it in observe() and in what turn() depends on, or reveal it first by an event that "
    "redact() shows"
)


def _named(viewer: int | None) -> str:
    return "a spectator" if viewer is None else f"Player {viewer + 1}"


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
