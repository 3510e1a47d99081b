"""The dialogue with a language model about one choice, as a state machine without a network.

A dialogue is made from a view, so that its prompt depends only on what the player may know. Send
`messages` to a model and pass what it replies to `hear`, until `done`. An answer that cannot be
used is followed by a message that says why; after a fixed number of second chances the model
forfeits the choice.

>>> from duels.core import Match
>>> from duels.games import load
>>> dialogue = Dialogue(Match(load("firewall-breach"), seed=1).view(0))
>>> dialogue.hear(Reply("The opponent is weak, so I would rather wait."))
>>> dialogue.done, dialogue.faults
(False, ['unreadable'])
>>> print(dialogue.messages[-1]["content"])
Your answer cannot be used: there is no line that begins with 'MOVE:'.
End your answer with a line that has only your move, in this form:
MOVE: your move
>>> dialogue.hear(Reply("An attack is worth more on average.\\n**MOVE: attack**"))
>>> dialogue.done, dialogue.strategy
(True, {'attack': 1.0})
"""

# No `from __future__ import annotations` here: NamedTuple would compile every field's annotation
# again, which slows start-up.

import re
from math import isfinite
from typing import Any, NamedTuple

from duels.core.errors import DuelsError, IllegalMove, MalformedMove, quote
from duels.core.game import AnyGame, Event, Move, Outcome
from duels.core.options import Pair
from duels.core.parsing import expected, read_move
from duels.core.player import MixedStrategy, View
from duels.core.presentation import Lines, addressed, listed, player_name, who
from duels.core.views import position_of

MOVE, MIX = "move", "mix"  # kinds of answers: one move, or a mixed strategy
CHANCES = 1  # second chances for an answer that cannot be used
# What can be wrong with an answer. A truncated one is not read, since what it ends with was cut.
UNREADABLE, ILLEGAL, TRUNCATED, REFUSED = "unreadable", "illegal", "truncated", "refused"
FAULTS = (UNREADABLE, ILLEGAL, TRUNCATED, REFUSED)
WHOLE = 0.02  # how far the probabilities of a mixed strategy may be from 1 in total
SHORT = 40  # characters of an answer that is read as a move without a label
MARKS = " \t*_`'\".[]()"  # around a move in an answer

Message = dict[str, str]  # with `role` and `content`


class Reply(NamedTuple):
    """What a model replied."""

    text: str
    finish: str = "stop"  # why it ended: stop, length, content_filter, …
    reasoning: str = ""  # if the server sends it
    refusal: str = ""


class Question(NamedTuple):
    """How a model is asked."""

    answer: str = MOVE  # or MIX
    legal_moves: bool = True  # whether the prompt lists them
    chances: int = CHANCES
    note: str = ""  # what is in force besides the rules, such as a turn limit


class Dialogue:
    """The messages about one choice, and what came of them."""

    def __init__(self, view: View, question: Question | None = None) -> None:
        assert view.player is not None, "a spectator has no choice"
        assert view.options, "it is not this player's choice"
        self.view, self.question = view, question or Question()
        self.messages: list[Message] = [
            {"role": "user", "content": prompt(view, self.question)},
        ]
        self.strategy: MixedStrategy | None = None  # what was answered, once it can be used
        self.faults: list[str] = []  # of the answers that could not be used, in order
        self.replies: list[Reply] = []

    @property
    def forfeited(self) -> bool:
        """Whether no answer could be used and no chance is left."""
        return self.strategy is None and len(self.faults) > self.question.chances

    @property
    def done(self) -> bool:
        return self.strategy is not None or self.forfeited

    @property
    def said(self) -> str:
        """The text of the last reply."""
        return self.replies[-1].text or self.replies[-1].refusal if self.replies else ""

    def hear(self, reply: Reply) -> None:
        """Take a reply: the choice, or a fault that costs a chance."""
        assert not self.done, "the dialogue is over"
        self.replies.append(reply)
        try:
            self.strategy = read(reply, self.view, self.question)
            return
        except Unusable as error:
            self.faults.append(error.fault)
            why = str(error)
        if not self.done:
            ending = form(self.question)
            self.messages += [
                {"role": "assistant", "content": reply.text or reply.refusal},
                {"role": "user", "content": f"Your answer cannot be used: {why}\n{ending}"},
            ]

    def transcript(self) -> dict[str, Any]:
        """All that was said, as JSON values."""
        return {
            "messages": self.messages,
            "replies": [reply._asdict() for reply in self.replies],
            "faults": self.faults,
            "strategy": None if self.strategy is None else dict(self.strategy),
        }


class Unusable(DuelsError):
    """An answer that cannot be used; `fault` is the kind of what is wrong."""

    def __init__(self, fault: str, why: str) -> None:
        super().__init__(why)
        self.fault = fault


# The prompt


def prompt(view: View, question: Question) -> str:
    """The rules, what the player sees, what has happened, and how to answer."""
    game = view.game
    assert view.player is not None
    parts = [situation(view, question.note), [""]]
    if game.about_moves:
        parts.append([*forms_of_moves(game), ""])
    step = game.ask(view.observation, view.player, "")
    if step is not None:
        parts.append([f"It is your choice. {step.worded('', '')}"])
    if question.legal_moves:
        parts.append([f"Your legal moves: {listed(view.options, '; ')}."])
    parts.append(["", f"You may think first. {form(question)}"])
    return "\n".join(line.rstrip() for part in parts for line in part)


def situation(view: View, note: str = "") -> Lines:
    """The rules in force, what has happened, and the position, as the player saw them."""
    game = view.game
    assert view.player is not None
    parts = [
        [f"You play {game.title} against an opponent. These are the rules.", ""],
        game.rules_text().splitlines(),
    ]
    if note:
        parts.append(["", note])
    if uneven(view):
        parts.append(["", f"You are {player_name(view.player)}."])
    if view.history:
        parts.append(["", "What has happened, as you saw it:", *history_lines(view)])
    parts.append(["", "The position:", *seen_lines(view)])
    return [line for part in parts for line in part]


def forms_of_moves(game: AnyGame) -> Lines:
    """The forms of moves with their meanings."""
    forms = [f"  {move}: {about}" for move, about in game.about_moves.items()]
    return ["Forms of moves (words in capitals stand for numbers):", *forms]


def uneven(view: View) -> bool:
    """Whether the rules in force differ between the players, so that the seat must be named."""
    options, values = view.game.options(), vars(view.game)
    return any(
        isinstance(option, Pair) and values[name][0] != values[name][1]
        for name, option in options.items()
    )


def seen_lines(view: View) -> Lines:
    """The observation as text in the second person, the player's own side first."""
    assert view.player is not None
    other = player_name(1 - view.player)
    own = f"{player_name(view.player)}: "
    lines = [
        f"You: {line.removeprefix(own)}"
        if line.startswith(own)
        else addressed(line, view.player).replace(other, "Opponent")
        for line in position_of(view)
    ]
    return sorted(lines, key=lambda line: not line.startswith("You: "))


def history_lines(view: View) -> Lines:
    """The events as the player saw them, one in each line."""
    return [f"{number}. {told(event, view.player)}" for number, event in enumerate(view.history, 1)]


def told(event: Event, viewer: int | None) -> str:
    """An event in a line; "?" stands for what the viewer may not know."""
    if isinstance(event, Outcome):
        by = "" if event.by is None else f" ({who(event.by, viewer)})"
        return f"Chance{by}: {event.outcome}"
    return "; ".join(f"{who(player, viewer)}: {move}" for player, move in event.moves)


def form(question: Question) -> str:
    """How an answer must end. The example names no move, since models tend to repeat examples."""
    if question.answer == MOVE:
        return "End your answer with a line that has only your move, in this form:\nMOVE: your move"
    return (
        "End your answer with a line that states how likely you choose each move, in per cent, "
        "in this form:\nMIX: one move = 75; another move = 25"
    )


# Reading


def read(reply: Reply, view: View, question: Question) -> MixedStrategy:
    """The mixed strategy of a reply, a single move having probability 1; or `Unusable`."""
    check_whole(reply)
    said = labelled(reply.text, question.answer)
    return {read_choice(said, view): 1.0} if question.answer == MOVE else read_mix(said, view)


def check_whole(reply: Reply) -> None:
    """Raise `Unusable` if a reply is a refusal or was cut off."""
    if reply.refusal or reply.finish == "content_filter":
        raise Unusable(REFUSED, "it declines to answer.")
    if reply.finish == "length":
        raise Unusable(TRUNCATED, "it was cut off before its end. Think more briefly.")


def labelled(text: str, kind: str) -> str:
    """What follows the last label, `MOVE:` or `MIX:`; a short answer may have no label."""
    label = kind.upper()
    found = re.findall(rf"^[\s*_`>#-]*{label}[\s*_`]*:(.*)$", text, re.IGNORECASE | re.MULTILINE)
    if found:
        return str(found[-1])
    bare = text.strip()
    if bare and len(bare) <= SHORT and "\n" not in bare and kind == MOVE:
        return bare
    raise Unusable(UNREADABLE, f"there is no line that begins with '{label}:'.")


def read_choice(text: str, view: View) -> Move:
    """The move that a text names, as a player may type it."""
    assert view.player is not None
    player = view.player
    try:
        move, step = read_move(
            lambda so_far: view.game.ask(view.observation, player, so_far), text.strip(MARKS)
        )
    except IllegalMove as error:
        raise Unusable(ILLEGAL, str(error)) from None
    except MalformedMove as error:
        fault = ILLEGAL if text.strip(MARKS).lower() in _all_moves(view) else UNREADABLE
        raise Unusable(fault, str(error)) from None
    if step is not None:
        raise Unusable(UNREADABLE, f"{quote(move)} is not a whole move. {expected(step)}".strip())
    if move not in view.options:
        raise Unusable(ILLEGAL, f"{quote(move)} is not a legal move here.")
    return move


def _all_moves(view: View) -> tuple[Move, ...]:
    """The moves of the game, to tell an illegal move from nonsense; none if it lists none."""
    try:
        return view.game.moves()
    except NotImplementedError:
        return ()


def read_mix(text: str, view: View) -> MixedStrategy:
    """The mixed strategy that a text states, in per cent or as fractions of 1."""
    found: dict[Move, float] = {}
    for item in filter(None, (part.strip(MARKS) for part in text.split(";"))):
        named, sign, share = item.rpartition("=")
        number = share.strip(MARKS + "%")
        try:
            chance = float(number)
        except ValueError:
            chance = -1.0
        if not sign or chance < 0 or not isfinite(chance):
            raise Unusable(UNREADABLE, f"{quote(item)} is not of the form MOVE = PERCENTAGE.")
        move = read_choice(named, view)
        if move in found:
            raise Unusable(UNREADABLE, f"{quote(move)} is listed twice.")
        found[move] = chance
    total = sum(found.values())
    if not any(abs(total / whole - 1) <= WHOLE for whole in (1, 100)):
        raise Unusable(UNREADABLE, f"the percentages add up to {total:g} instead of 100.")
    return {move: chance / total for move, chance in found.items() if chance}
