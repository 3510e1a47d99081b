"""Parses what a person types as an answer to the steps of a choice, with abbreviations."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from duels.core.errors import DuelsError, IllegalMove, MalformedMove, quote
from duels.core.presentation import Step, listed


def read_move(
    ask: Callable[[str], Step | None], text: str, so_far: str = ""
) -> tuple[str, Step | None]:
    """Parse typed words as answers to the steps of a choice.

    Returns the move so far and the next step, None when the move is complete. Words may be
    shortened while unambiguous; numbers may not, so that "1" is never read as "10".

    >>> steps = {"": Step("Act:", ("attack", "bypass")), "attack": Step("With:", ("2", "3"), True)}
    >>> read_move(steps.get, "A 3,2")
    ('attack 2 3', None)
    """
    words = text.lower().replace(",", " ").split()
    step = ask(so_far)
    if not words:
        raise MalformedMove(f"Nothing was typed. {expected(step)}")
    while words:
        if step is None:
            more = quote(" ".join(words))
            raise MalformedMove(f"{quote(so_far)} is a complete move; leave out {more}.")
        if step.many:
            chosen = _some_of(step, words)
            words = []
        else:
            chosen = [_one_of(step, words.pop(0))]
        so_far = " ".join([so_far, *chosen]).strip()
        step = ask(so_far)
    return so_far, step


def read_answer(
    ask: Callable[[str], Step | None], text: str, so_far: str = ""
) -> tuple[str, Step | None]:
    """Parse typed words as an answer to the step after `so_far`, or else as a whole move.

    If they are neither, the error is that of the whole move if its first word is possible.

    >>> steps = {"": Step("Act:", ("attack", "bypass")), "attack": Step("With:", ("2", "3"), True)}
    >>> read_answer(steps.get, "bypass", "attack")
    ('bypass', None)
    >>> read_answer(steps.get, "attack 9", "attack")
    Traceback (most recent call last):
    duels.core.errors.MalformedMove: '9' is not available. Choose some of: 2, 3.
    """
    try:
        return read_move(ask, text, so_far)
    except DuelsError:
        if not (so_far and _begins_move(ask, text)):
            raise
    return read_move(ask, text)


def _begins_move(ask: Callable[[str], Step | None], text: str) -> bool:
    try:
        read_move(ask, " ".join(text.replace(",", " ").split()[:1]))
    except DuelsError:
        return False
    return True


def expected(step: Step | None) -> str:
    """What a player may type, as a sentence."""
    if step is None or not step.choices:
        return ""
    distinct = list(dict.fromkeys(step.choices))
    return f"Choose {'some' if step.many else 'one'} of: {listed(distinct)}."


def _one_of(step: Step, word: str) -> str:
    if word.isascii() and word.isdigit():
        word = word.lstrip("0") or "0"
        fits = [choice for choice in step.choices if choice == word]
    else:
        fits = [choice for choice in step.choices if choice == word] or list(
            dict.fromkeys(choice for choice in step.choices if choice.startswith(word))
        )
    if len(fits) > 1 and len(set(fits)) > 1:
        raise MalformedMove(f"{quote(word)} could be {listed(fits, ' or ')}.")
    if fits:
        return fits[0]
    known = [word] if word in step.refused else _begun(step.refused, word)
    if len(known) == 1:
        raise IllegalMove(f"{step.refused[known[0]]} {expected(step)}".strip())
    said = f"{quote(word)} is not available" if word.isdigit() else f"I don't know {quote(word)}"
    raise MalformedMove(f"{said}. {expected(step)}".strip())


def _begun(words: Iterable[str], start: str) -> list[str]:
    return [] if start.isdigit() else [word for word in words if word.startswith(start)]


def _some_of(step: Step, words: list[str]) -> list[str]:
    left = list(step.choices)
    chosen = []
    for word in words:
        choice = _one_of(step, word)
        if choice not in left:
            held = step.choices.count(choice)
            often = "once" if held == 1 else "twice" if held == 2 else f"{held} times"
            raise IllegalMove(f"You can use {choice} only {often}.")
        left.remove(choice)
        chosen.append(choice)
    return sorted(chosen, key=step.choices.index)
