"""Cipher Siege, play-outs of a choice, against the rules followed to the end and the exact tree."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from duels.algorithms import tables
from duels.algorithms.estimate import error_of
from duels.core.game import HIDDEN, Chance, Event, Move, Outcome, Over, Pick
from duels.core.match import Match
from duels.core.player import View
from duels.games import load
from duels.games.cipher_siege import belief
from duels.games.cipher_siege.belief import MISTAKE, Belief
from duels.games.cipher_siege.encoding import CardEncoding, moves_of
from duels.games.cipher_siege.infostate import InfoState
from duels.games.cipher_siege.playouts import PlayOuts, SelfPlay
from duels.games.cipher_siege.rules import CipherSiege, Seen, State
from duels.games.cipher_siege.solver import CipherSiegeSolution
from duels.games.cipher_siege.strategy import KIND, Stored, payload_of

needs_numba = pytest.mark.extra("solve")


class MixedStrategyOpponent(CipherSiegeSolution):
    """A strategy made up on the playouts, which plays many moves everywhere."""

    def stored(self, info: InfoState) -> tuple[Stored | None, int]:
        chooser = Random(repr(info))
        hand = self._encoding.hand(info.hand)
        count = len(hand.rows) if info.other_size else hand.plain
        mix = [(at, 1 + chooser.randrange(9)) for at in range(count) if chooser.random() < 0.6]
        return Stored(0, count, mix or [(0, 1)], bytes([255] * count)), 0


def made_up(
    game: CipherSiege, home: Path, monkeypatch: pytest.MonkeyPatch
) -> MixedStrategyOpponent:
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    facts = {"states": 0, "fine_plies": 6, "first player": 0.5}
    tables.store(game, payload_of([]), KIND, facts=facts)
    return MixedStrategyOpponent(game)


class Truth:
    """What follows from the rules alone, every course of events being followed."""

    def __init__(self, solution: CipherSiegeSolution) -> None:
        self.game, self.solution = solution.game, solution

    def mixed_strategy(self, state: State, history: tuple[Event, ...]) -> dict[Move, float]:
        """How the strategy chooses; it looks at nothing but picks and swaps of the history."""
        turn = self.game.turn(state)
        assert not isinstance(turn, Chance | Over)
        seen = self.game.observe(state, state.mover)
        view = View(self.game, state.mover, seen, history, turn.options[state.mover])
        return dict(self.solution.assess(view).mixed_strategy)

    def courses(self, view: View) -> dict[tuple[State, tuple[Event, ...]], float]:
        """Every course of events that looks like this to the viewer, with its weight."""
        found: dict[tuple[State, tuple[Event, ...]], float] = {(self.game.start(), ()): 1.0}
        for shown in view.history:
            after: dict[tuple[State, tuple[Event, ...]], float] = {}
            for (state, history), weight in found.items():
                for event, chance in self.events(state, history, view.player).items():
                    if self.game.redact(state, event, view.player) == shown:
                        place = self.game.play(state, said(event)), (*history, event)
                        after[place] = after.get(place, 0.0) + weight * chance
            found = after
        return found

    def events(
        self, state: State, history: tuple[Event, ...], own: int | None
    ) -> dict[Event, float]:
        turn = self.game.turn(state)
        assert not isinstance(turn, Over)
        if isinstance(turn, Chance):
            return {Outcome(card, turn.by): float(odd) for card, odd in turn.odds.items()}
        options = turn.options[state.mover]
        mix = {} if state.mover == own else self.mixed_strategy(state, history)
        return {
            Pick(((state.mover, move),)): 1.0
            if state.mover == own
            else MISTAKE / len(options) * (move != "pass")
            + (1 - MISTAKE * (move != "pass")) * mix.get(move, 0.0)
            for move in options
        }

    def score(self, state: State, history: tuple[Event, ...], left: int) -> float:
        """Player 1's score when both follow the strategy for so many choices more."""
        turn = self.game.turn(state)
        if isinstance(turn, Over):
            return float(turn.winner == 0)
        if left <= 0 and state.phase != "swap":
            return 0.5
        if isinstance(turn, Chance):
            odds = {Outcome(card, turn.by): float(odd) for card, odd in turn.odds.items()}
            return sum(
                odd * self.score(self.game.play(state, said(event)), (*history, event), left)
                for event, odd in odds.items()
            )
        total = 0.0
        for move, part in self.mixed_strategy(state, history).items():
            after = self.game.play(state, move)
            total += part * self.score(after, (*history, Pick(((state.mover, move),))), left - 1)
        return total

    def worth(self, view: View, move: Move, left: int) -> float:
        """What a move is worth to the viewer."""
        courses = self.courses(view)
        total = 0.0
        for (state, history), weight in courses.items():
            after = self.game.play(state, move)
            event = Pick(((state.mover, move),))
            total += weight * self.score(after, (*history, event), left - 1)
        mean = total / sum(courses.values())
        return mean if view.player == 0 else 1 - mean


def said(event: Event) -> str:
    return event.outcome if isinstance(event, Outcome) else event.moves[0][1]


TINY: list[dict[str, object]] = [
    {"values": 3, "copies": 2, "integrity": "7/6", "hand": 1, "limit": 3},
    {"values": 3, "copies": 2, "integrity": 8, "hand": 2, "limit": 3, "first": 1},
    {"values": 2, "copies": 2, "integrity": 6, "hand": 2, "limit": 3},  # dealt out at the start
    {"values": 2, "copies": 2, "integrity": 9, "hand": 1, "limit": 5},  # one may hold all cards
]


def positions(game: CipherSiege, seeds: range) -> list[tuple[View, Match]]:
    """Choices of random games, two or more turns in."""
    found = []
    for seed in seeds:
        chooser, match = Random(seed), Match(game, seed)
        for _ in range(chooser.randrange(2, 7)):
            if match.result is None:
                (player,) = match.deciders
                match.submit(player, chooser.choice(match.view(player).options))
        if match.result is None:
            found.append((match.view(match.deciders[0]), match))
    return found


@pytest.mark.parametrize("options", TINY, ids=str)
def test_the_odds_of_the_other_hand_are_those_of_all_courses_that_fit(
    options: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deals, draws, moves that fit a hand or not, wins passed by, swaps, reshuffles."""
    game = load("cipher-siege", **options)
    assert isinstance(game, CipherSiege)
    solution = made_up(game, tmp_path, monkeypatch)
    encoding = CardEncoding(game)
    met = swaps = reshuffled = 0
    for view, match in positions(game, range(40)):
        assert view.player is not None
        expected: dict[int, float] = {}
        for (state, _), weight in Truth(solution).courses(view).items():
            held = encoding.code(state.hands[1 - view.player])
            expected[held] = expected.get(held, 0.0) + weight
        total = sum(expected.values())
        found = Belief(encoding, solution._policy, view)
        assert found.odds == pytest.approx({h: w / total for h, w in expected.items() if w > 0})
        assert encoding.code(match.state.hands[1 - view.player]) in found.odds
        seen = view.observation
        assert (found.info_state.hand, found.info_state.discards) == tuple(
            map(encoding.code, (seen.hand, seen.discard))
        )
        met += 1
        moves = [said(event).split() for event in view.history if isinstance(event, Pick)]
        used = sum(len(cards) for word, *cards in moves if word != "swap")
        swaps += any(word == "swap" for word, *_ in moves)
        reshuffled += len(seen.discard) < used
    assert met > 10
    assert swaps > 3
    assert reshuffled > 3


@pytest.mark.slow
@pytest.mark.parametrize("options", TINY, ids=str)
def test_play_outs_are_worth_what_the_rules_followed_to_the_end_say(
    options: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = load("cipher-siege", **options)
    assert isinstance(game, CipherSiege)
    solution = made_up(game, tmp_path, monkeypatch)
    player = SelfPlay(CardEncoding(game), solution._policy)
    off = []
    for view, _ in positions(game, range(40)):
        playouts = PlayOuts(player, view, longest=3)
        for move in view.options[:: max(1, len(view.options) // 4)]:
            truth = Truth(solution).worth(view, move, 3)
            found = playouts.measure(move, 2000)
            error = error_of(found)
            if error is None:
                assert found == pytest.approx(truth), "sure"
            elif found != pytest.approx(truth):  # or every play-out ended alike
                off.append((float(found) - truth) / error)
    assert len(off) > 15
    assert max(map(abs, off)) < 4
    spread = math.sqrt(sum(z * z for z in off) / len(off))
    assert spread < 1.3, "the stated error is about the true one"
    assert abs(sum(off) / len(off)) < 3 / math.sqrt(len(off)), "to neither side"


@needs_numba
@pytest.mark.slow
@pytest.mark.parametrize("number", range(2))
def test_play_outs_agree_with_the_exact_tree(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A strategy half trained, at the choices of the whole tree that it comes to."""
    monkeypatch.setattr(belief, "MISTAKE", 0.0)  # the tree has no branch after a win passed by
    off = from_the_tree(number)
    assert len(off) > 10
    assert max(map(abs, off)) < 4
    assert math.sqrt(sum(z * z for z in off) / len(off)) < 1.3


def from_the_tree(number: int) -> list[float]:
    from duels.algorithms.compiled import np
    from tests.games.cipher_siege.test_training import CAPPED, trained
    from tools.cipher_siege.small_exact import sweep

    cap = CAPPED[number][1]
    exact, run, mine = trained(number, 300)
    game, tree, builder = run.game, exact.tree, exact.builder
    encoding = CardEncoding(game)
    mixes: dict[InfoState, list[tuple[int, float]]] = {}
    for at, (held, disc, ci, other_ci, size, known, known_own, ply) in enumerate(builder.features):
        hand, begin = encoding.hand(encoding.code(held)), int(tree.offset[at])
        info = InfoState(
            encoding.code(held), size, encoding.code(disc), ci, other_ci,
            encoding.code(known), encoding.code(known_own), ply,
        )  # fmt: skip
        mixes[info] = [
            (hand.places[name_of(move)], float(mine[begin + j]))
            for j, move in enumerate(builder.moves[at])
            if mine[begin + j] > 0
        ]
    player = SelfPlay(encoding, lambda info: mixes[info])
    n = tree.level.shape[0]
    reach, value, q = np.zeros(n), np.zeros(n), np.zeros(int(tree.offset[-1]))
    wanted = {name: at for name, at in builder.sets.items() if len(builder.moves[at]) > 1}
    off: list[float] = []
    for me in (0, 1):
        sweep(tree, mine, me, reach, value, q, False)
        weight = np.zeros(len(builder.moves))
        for i in range(n):
            if tree.player[i] == me:
                weight[tree.info[i]] += reach[i]
        own = [item for item in wanted.items() if item[0][0] == me and weight[item[1]] > 1e-6]
        own.sort(key=lambda item: (-weight[item[1]], item[1]))
        for (_, ply, seen), at in own[:60]:
            view = view_of(game, me, ply, seen, builder.features[at], builder.moves[at])
            playouts = PlayOuts(player, view, cap - ply)
            for place, move in enumerate(builder.moves[at]):
                found = playouts.measure(name_of(move), 800)
                truth = float(q[tree.offset[at] + place] / weight[at])
                error = error_of(found)
                alike = found == pytest.approx(truth)
                assert alike or error is not None
                off += [] if alike or error is None else [(float(found) - truth) / error]
    return off


def name_of(move: tuple[int, tuple[int, ...]]) -> Move:
    kind, cards = move
    return f"{('attack', 'defend', 'swap')[kind]} {' '.join(map(str, cards))}"


def view_of(game: CipherSiege, me: int, ply: int, seen: Any, features: Any, moves: Any) -> View:
    """A node's information set as a view: the tree names it by everything its player saw."""
    history: list[Event] = []
    (dealt, *events) = seen
    for own in dealt:
        pair = (str(own), HIDDEN) if me == 0 else (HIDDEN, str(own))
        history += [Outcome(card, by) for by, card in enumerate(pair)]
    mover, drawn = 0, False
    for event in events:
        if event[0] == "draw":
            history.append(Outcome(str(event[1]), me))
            drawn = True
            continue
        if mover != me and not drawn:
            history.append(Outcome(HIDDEN, mover))
        if event[0] == "swap":
            _, gave, got = event
            history += [Pick(((mover, f"swap {gave}"),)), Outcome(str(got), mover)]
        else:
            history.append(Pick(((mover, name_of(event)),)))
        mover, drawn = 1 - mover, False
    hand, disc, ci, other_ci, other_size, *_ = features
    sizes = (len(hand), other_size) if me == 0 else (other_size, len(hand))
    cis = (ci, other_ci) if me == 0 else (other_ci, ci)
    left = game.values * game.copies - sum(sizes) - len(disc)
    observation = Seen(me, cis, hand, sizes, left, disc, me, "act", 0)
    return View(game, me, observation, tuple(history), tuple(map(name_of, moves)))


# The shipped strategy


@cache
def shipped() -> CipherSiegeSolution:
    return CipherSiegeSolution(load("cipher-siege"))


@pytest.mark.slow
def test_play_outs_agree_with_the_values_stored_for_first_turns() -> None:
    """Two ways to the same figure: the kernel's play-outs after training, and these."""
    off = []
    for seed in range(12):
        match = Match(load("cipher-siege"), seed)
        view = match.view(0)
        choice = shipped().assess(view)
        playouts = PlayOuts(shipped().player, view)
        for move in list(choice.mixed_strategy) + list(view.options)[::7]:
            stored = choice.options[move]
            found = playouts.measure(move, 1000)
            errors = error_of(stored), error_of(found)
            if stored is not None and errors[0] is not None and errors[1] is not None:
                off.append((float(found) - float(stored)) / math.hypot(*errors))  # type: ignore[arg-type]
    assert len(off) > 25
    assert max(map(abs, off)) < 4
    assert math.sqrt(sum(z * z for z in off) / len(off)) < 1.4


def test_the_same_question_gets_the_same_answer() -> None:
    match = Match(load("cipher-siege"), 3)
    view = match.view(0)
    move = view.options[2]
    one = PlayOuts(shipped().player, view).measure(move, 200)
    again = PlayOuts(shipped().player, view)
    again.measure(view.options[0], 100)
    assert error_of(again.measure(move, 800)) < error_of(one)  # type: ignore[operator]
    assert again.measure(move, 200) == one


def test_moves_are_in_the_order_of_the_strategy() -> None:
    encoding = CardEncoding(CipherSiege())
    for held in ((1, 2, 2), (3,), (1, 2, 3, 4, 5, 5), (1, 1, 2, 3, 5)):
        hand = encoding.hand(encoding.code(held))
        names, best, damage = moves_of(encoding.counts(encoding.code(held)), len(held) <= 5)
        assert (hand.names, hand.best, hand.damage) == (names, best, damage)
        assert all(move.startswith("swap") == (at >= hand.plain) for at, move in enumerate(names))
