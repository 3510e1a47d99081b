"""Questions about the rules."""

from __future__ import annotations

from typing import Any

import pytest

from duels.core.game import AnyGame
from duels.games import BUILT_IN, load
from duels.llm.answers import Answer
from duels.llm.bench import QUIZ, Plan, Run, Wanted, plans, run_plan
from duels.llm.dialogue import REFUSED, TRUNCATED, UNREADABLE, Reply, Unusable
from duels.llm.quiz import LEGAL, LETTERS, OUTCOMES, WINNER, QuizDialogue, prompt, questions, read

GAMES = [load(slug) for slug in BUILT_IN]


class Knows:
    """A model that knows the answers, or says always the same."""

    def __init__(self, plan: Plan, text: str = "") -> None:
        self.name, self.text = "knows", text
        self.parameters: dict[str, Any] = {}
        self.known = {prompt(q): ", ".join(sorted(q.right)) for q in plan.questions}

    async def ask(self, messages: Any, sample: int, view: Any) -> Answer:
        right = self.known[messages[0]["content"]]
        return Answer(Reply(self.text or f"I see.\n**ANSWER:** {right}."))

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.slug)
def test_questions_have_right_and_wrong_answers(game: AnyGame) -> None:
    found = questions(game, 12, 1)
    assert [q.id for q in found] == [q.id for q in questions(game, 12, 1)]
    assert len({q.id for q in found}) == 12
    for question in found:
        known = LETTERS[: len(question.choices)]
        assert len({*question.choices}) == len(question.choices) > 1
        assert question.right
        assert question.right < {*known}
        right = {question.choices[LETTERS.index(letter)] for letter in question.right}
        if question.kind == LEGAL:
            assert right == {*question.choices} & {*question.view.options}
        else:
            assert len(right) == 1
    ends = {q.choices[LETTERS.index(min(q.right))] for q in found if q.kind == WINNER}
    assert ends > {OUTCOMES[0]}, "all questions about the end have the same answer"


def test_knowledge_and_its_absence_are_told_apart() -> None:
    (plan,) = plans(load("cipher-siege"), Wanted(QUIZ, n=30))
    for text, right, forfeits in (("", 1.0, 0), ("ANSWER: all of them", 0.0, 30)):
        found = run_plan(plan, Run(Knows(plan, text)))  # type: ignore[arg-type]
        assert found["right"]["mean"] == right
        assert found["faults"]["forfeits"] == forfeits
        assert {kind["questions"] for kind in found["kinds"].values()} == {10}
    found = run_plan(plan, Run(Knows(plan, "ANSWER: A")))  # type: ignore[arg-type]
    assert 0 < found["right"]["mean"] < 0.6


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (Reply("A"), UNREADABLE), (Reply("ANSWER: Z"), UNREADABLE),
        (Reply("ANSWER: "), UNREADABLE), (Reply("ANSWER: A, B"), UNREADABLE),
        (Reply("ANSWER: A", "length"), TRUNCATED), (Reply("", refusal="No."), REFUSED),
    ],
)  # fmt: skip
def test_answers_that_cannot_be_used(reply: Reply, fault: str) -> None:
    question = next(q for q in questions(load("firewall-breach"), 4, 1) if q.kind == WINNER)
    with pytest.raises(Unusable) as found:
        read(reply, question)
    assert found.value.fault == fault
    dialogue = QuizDialogue(question)
    dialogue.hear(reply)
    assert not dialogue.done
    dialogue.hear(Reply("answer: b"))
    assert dialogue.done
    assert dialogue.answer == {"B"}
