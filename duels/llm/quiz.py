"""Mode `quiz`: questions about the rules, to tell "does not know the rules" from "plays badly".

Three kinds, each with its own share of right answers: which moves are legal, what the position is
after some events, and whether they end the game and who wins. Positions are those of random
matches. Answers are letters; an answer that cannot be used is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import product
from random import Random
from typing import Any, NamedTuple

from duels.arena.scores import Sample
from duels.core.errors import quote
from duels.core.game import AnyGame, Decide, Game
from duels.core.match import Match
from duels.core.player import View
from duels.core.presentation import listed
from duels.llm.dialogue import (
    CHANCES,
    UNREADABLE,
    Message,
    Reply,
    Unusable,
    check_whole,
    forms_of_moves,
    labelled,
    seen_lines,
    situation,
    told,
)
from duels.llm.positions import interval

LEGAL, RESULT, WINNER = "legal moves", "result of moves", "who wins"
KINDS = (LEGAL, RESULT, WINNER)
LETTERS = "ABCDEFGH"
CHOICES = 4  # positions to choose from
MATCHES = 20  # random matches for each question, at most
OUTCOMES = ("The game goes on.", "You have won.", "The opponent has won.", "The game is a draw.")


class QuizQuestion(NamedTuple):
    """A question with its choices and the letters of the right ones."""

    kind: str
    view: View
    text: str
    choices: tuple[str, ...]
    right: frozenset[str]

    @property
    def id(self) -> str:
        """A name of the question that is the same in every run."""
        text = repr((self.view.game, self.text, self.choices))
        return sha256(text.encode()).hexdigest()[:16]

    @property
    def by_chance(self) -> float:
        """The probability that a random answer is right."""
        return 0.5 ** len(self.choices) if self.kind == LEGAL else 1 / len(self.choices)


def questions(game: AnyGame, n: int, seed: int) -> list[QuizQuestion]:
    """Up to `n` different questions, equally many of each kind that the game has."""
    kinds = [kind for kind in KINDS if _of_kind(game, kind, 1, seed)]
    found = []
    for k, kind in enumerate(kinds):
        wanted = n * (k + 1) // len(kinds) - n * k // len(kinds)
        found += _of_kind(game, kind, wanted, seed)
    return found


def _of_kind(game: AnyGame, kind: str, wanted: int, seed: int) -> list[QuizQuestion]:
    found: dict[str, QuizQuestion] = {}
    for number in range(MATCHES * wanted):
        if len(found) == wanted:
            break
        randomness = Random(f"bench quiz {seed} {kind} {number}")
        question = _question(game, kind, randomness, number, len(found))
        if question is not None:
            found.setdefault(question.id, question)
    return list(found.values())


def _question(
    game: AnyGame, kind: str, randomness: Random, number: int, known: int
) -> QuizQuestion | None:
    """A question from a random match; None if the match has none."""
    picks = _random_match(game, number, randomness)
    at = randomness.randrange(len(picks))
    if kind == WINNER:  # half of these questions are about the end of a match
        at = len(picks) - 1 if known % 2 else randomness.randrange(max(1, len(picks) - 1))
    match = _replayed(game, number, picks[:at])
    if kind == LEGAL:
        return _legal(match.view(randomness.choice(match.deciders)), randomness)
    player = randomness.randrange(2)
    view = match.view(player)
    after = _replayed(game, number, picks[: at + 1])
    events = [told(event, player) for event in after.history(player)[len(view.history) :]]
    happened = ["Then this happens:", *(f"- {event}" for event in events), ""]
    if kind == WINNER:
        ask = "Is the game over after that, and who has won?"
        right = OUTCOMES[_outcome(after, player)]
        wrong = [outcome for outcome in OUTCOMES if outcome != right]
        return _shuffled(kind, view, [*happened, ask], right, wrong, randomness)
    right = _position(after, player)
    assert isinstance(match.turn, Decide)
    options = [match.turn.options[decider] for decider in match.deciders]
    joint = list(product(*options))
    others = {_position(match, player)} | {
        _position(_replayed(game, number, [*picks[:at], other]), player)
        for other in randomness.sample(joint, min(len(joint), 2 * CHOICES))
    }
    others -= {right}
    if not others:
        return None
    wrong = randomness.sample(sorted(others), min(len(others), CHOICES - 1))
    ask = "What is the position after that?"
    return _shuffled(kind, view, [*happened, ask], right, wrong, randomness)


def _legal(view: View, randomness: Random) -> QuizQuestion | None:
    if type(view.game).moves is Game.moves:
        return None
    illegal = [move for move in view.game.moves() if move not in view.options]
    if not illegal:
        return None
    some = randomness.sample(illegal, min(len(illegal), randomness.randint(1, 3)))
    legal = randomness.sample(
        view.options, min(len(view.options), randomness.randint(1, len(LETTERS) - len(some) - 2))
    )
    choices = [*some, *legal]
    randomness.shuffle(choices)
    right = frozenset(LETTERS[k] for k, move in enumerate(choices) if move in legal)
    text = "It is your choice. Which of these moves are legal?"
    return QuizQuestion(LEGAL, view, text, tuple(choices), right)


def _shuffled(
    kind: str, view: View, lines: list[str], right: str, wrong: list[str], randomness: Random
) -> QuizQuestion:
    choices = [right, *wrong]
    randomness.shuffle(choices)
    letters = frozenset(LETTERS[choices.index(right)])
    return QuizQuestion(kind, view, "\n".join(lines), tuple(choices), letters)


def _random_match(game: AnyGame, seed: int, randomness: Random) -> list[tuple[str, ...]]:
    """The picks of a match of random moves."""
    match, picks = Match(game, seed, now=lambda: None), []
    while match.result is None:
        picks.append(tuple(randomness.choice(match.view(p).options) for p in match.deciders))
        _submit(match, picks[-1])
    return picks


def _replayed(game: AnyGame, seed: int, picks: Sequence[tuple[str, ...]]) -> Match:
    match = Match(game, seed, now=lambda: None)
    for each in picks:
        _submit(match, each)
    return match


def _submit(match: Match, picks: Sequence[str]) -> None:
    for player, pick in zip(match.deciders, picks, strict=True):
        match.submit(player, pick)


def _outcome(match: Match, player: int) -> int:
    """The number in `OUTCOMES`; a match that reaches the turn limit goes on by the rules."""
    if match.result is None or match.result.by != "rules":
        return 0
    winner = match.result.winner
    return 3 if winner is None else 1 if winner == player else 2


def _position(match: Match, player: int) -> str:
    return "; ".join(seen_lines(match.view(player)._replace(history=(), options=())))


class QuizDialogue:
    """The messages about one question."""

    def __init__(self, question: QuizQuestion, chances: int = CHANCES) -> None:
        self.quiz, self.view, self.chances = question, question.view, chances
        self.messages: list[Message] = [{"role": "user", "content": prompt(question)}]
        self.answer: frozenset[str] | None = None  # letters
        self.faults: list[str] = []
        self.replies: list[Reply] = []

    @property
    def forfeited(self) -> bool:
        return self.answer is None and len(self.faults) > self.chances

    @property
    def done(self) -> bool:
        return self.answer is not None or self.forfeited

    @property
    def right(self) -> bool:
        return self.answer == self.quiz.right

    def hear(self, reply: Reply) -> None:
        """Take a reply: an answer, or a fault that costs a chance."""
        self.replies.append(reply)
        try:
            self.answer = read(reply, self.quiz)
        except Unusable as error:
            self.faults.append(error.fault)
            if not self.done:
                why = f"Your answer cannot be used: {error}\n{form(self.quiz)}"
                self.messages += [
                    {"role": "assistant", "content": reply.text or reply.refusal},
                    {"role": "user", "content": why},
                ]

    def transcript(self) -> dict[str, Any]:
        """All that was said, as JSON values."""
        return {
            "kind": self.quiz.kind,
            "messages": self.messages,
            "replies": [reply._asdict() for reply in self.replies],
            "faults": self.faults,
            "answer": None if self.answer is None else sorted(self.answer),
            "right": sorted(self.quiz.right),
        }


def prompt(question: QuizQuestion) -> str:
    game = question.view.game
    lines = [*situation(question.view), ""]
    if game.about_moves:
        lines += [*forms_of_moves(game), ""]
    named = zip(LETTERS, question.choices, strict=False)
    choices = [f"{letter}: {choice}" for letter, choice in named]
    lines += [question.text, *choices, "", f"You may think first. {form(question)}"]
    return "\n".join(line.rstrip() for line in lines)


def form(question: QuizQuestion) -> str:
    """How an answer must end."""
    if question.kind == LEGAL:
        return (
            "End your answer with a line that has the letters of all legal moves, separated by "
            "commas, in this form:\nANSWER: letters"
        )
    return "End your answer with a line that has one letter, in this form:\nANSWER: letter"


def read(reply: Reply, question: QuizQuestion) -> frozenset[str]:
    """The letters that a reply names; `Unusable` otherwise."""
    check_whole(reply)
    said = labelled(reply.text, "answer").strip(" \t*_`.")
    letters = re.split(r"[\s,;]+", said.upper())
    known = LETTERS[: len(question.choices)]
    if not all(len(letter) == 1 and letter in known for letter in letters):
        raise Unusable(UNREADABLE, f"expected letters from {known[0]} to {known[-1]}; "
                                   f"got {quote(said)}.")  # fmt: skip
    if question.kind != LEGAL and len(letters) != 1:
        raise Unusable(UNREADABLE, f"expected one letter; got {listed(letters)}.")
    return frozenset(letters)


def quiz_result(rows: Sequence[Sequence[QuizDialogue]]) -> dict[str, Any]:
    """The share of right answers by kind; `rows` has the samples of each question."""
    found: dict[str, Any] = {}
    for kind in KINDS:
        own = [row for row in rows if row[0].quiz.kind == kind]
        if own:
            share = Sample.of([sum(d.right for d in row) / len(row) for row in own]).score()
            chance = sum(row[0].quiz.by_chance for row in own) / len(own)
            found[kind] = {"questions": len(own), "right": interval(share), "by_chance": chance}
    shares = {row[0].quiz.id: [sum(d.right for d in row) / len(row)] for row in rows}
    return {
        "questions": len(rows),
        "right": interval(Sample.of([share for (share,) in shares.values()]).score()),
        "kinds": found,
        "units": shares,
    }
