"""Runs of `duels bench`: what each mode asks, and the figures of each game.

positions   skill and regret over positions at stake        `duels.llm.positions`
policy      exact exploitability of a whole policy          `duels.llm.policy`
matches     scores without luck in pairs of matches         `duels.llm.matches`
quiz        questions about the rules                       `duels.llm.quiz`
code        the model writes a bot                          `duels.llm.code`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from duels.algorithms.solution import Progress
from duels.core.errors import OptionError
from duels.core.game import AnyGame
from duels.core.player import View
from duels.llm.code import CodeDialogue, code_result
from duels.llm.dialogue import FAULTS, MOVE, Dialogue, Question, prompt
from duels.llm.items import Item, items_at_stake, require_exact
from duels.llm.matches import (
    RANDOM_REGRET,
    asking,
    detectable_score,
    matches_result,
    play_pairs,
    records,
)
from duels.llm.policy import Task, policy_result, task_of
from duels.llm.positions import detectable, positions_result
from duels.llm.quiz import QuizDialogue, QuizQuestion, questions, quiz_result
from duels.llm.runner import Price, Run, Stopped
from duels.llm.variants import small_variants, variants

__all__ = [
    "CODE", "MATCHES", "MODES", "POLICY", "POSITIONS", "QUIZ", "Item", "Plan", "Price", "Run",
    "Stopped", "Wanted", "detectable", "items_at_stake", "plans", "positions_result", "run_plan",
]  # fmt: skip

POSITIONS, MATCHES, POLICY, QUIZ, CODE = "positions", "matches", "policy", "quiz", "code"
MODES = (POSITIONS, MATCHES, POLICY, QUIZ, CODE)
USUAL = {POSITIONS: 100, MATCHES: 50, POLICY: 0, QUIZ: 60, CODE: 20}  # -n
TOKEN = 4  # characters, on average, to estimate costs
WRITTEN, PROGRAM = 400, 4000  # tokens of an answer and of a program, to estimate costs
SIMULATED = 20  # pairs by which the length of matches and their luck are estimated


class Wanted(NamedTuple):
    """What is asked of a model."""

    mode: str = POSITIONS
    question: Question = Question()
    n: int = 100
    samples: int = 1
    seed: int = 1
    opponent: str = "perfect"
    variants: int = 0
    options: tuple[str, ...] = ()  # the names of the options that the user set


class Faulty(Protocol):
    """A finished dialogue."""

    faults: list[str]

    @property
    def forfeited(self) -> bool: ...

    def transcript(self) -> dict[str, Any]: ...


class Plan:
    """What is asked about one game, or about several variants of it."""

    def __init__(self, wanted: Wanted, games: Sequence[AnyGame]) -> None:
        self.wanted, self.games = wanted, games
        self.items: list[Item] = []
        self.questions: list[QuizQuestion] = []
        self.tasks: list[Task] = []

    @property
    def game(self) -> AnyGame:
        return self.games[0]

    @property
    def about(self) -> dict[str, Any]:
        """The game and its options; the options of each variant."""
        found: dict[str, Any] = {"game": self.game.slug, "title": self.game.title}
        if self.wanted.variants:
            return found | {"variants": [game.differing() for game in self.games]}
        differing = self.game.differing()
        return found | {"options": self.game.settings(), "differing": differing}

    def shares(self) -> list[tuple[AnyGame, int]]:
        """How many of the positions, questions or pairs each variant has."""
        n, count = self.wanted.n, len(self.games)
        return [(game, n * (k + 1) // count - n * k // count) for k, game in enumerate(self.games)]


def plans(
    game: AnyGame, wanted: Wanted, progress: Progress | None = None
) -> list[Plan]:  # fmt: skip
    """What is asked about a game; each small variant is measured on its own."""
    if wanted.mode == POLICY:
        if wanted.variants:
            tasks = small_variants(game, wanted.variants, wanted.seed)
        else:
            tasks = [task_of(game, wanted.options)]
        found = []
        for task in tasks:
            found.append(Plan(wanted, [task.game]))
            found[-1].tasks = [task]
        return found
    if wanted.mode == POSITIONS:
        require_exact(game)
    games = variants(game, wanted.variants, wanted.seed) if wanted.variants else [game]
    plan = Plan(wanted, games)
    for variant, n in plan.shares():
        if wanted.mode == POSITIONS:
            plan.items += items_at_stake(variant, n, wanted.seed, progress)
        elif wanted.mode == QUIZ:
            plan.questions += questions(variant, n, wanted.seed)
    if wanted.mode == POSITIONS and not plan.items:
        raise OptionError(f"no position of {game.slug} has anything at stake")
    return [plan]


def run_plan(plan: Plan, run: Run, folder: Path | None = None) -> dict[str, Any]:
    """Ask what is planned, and compute the figures."""
    before = set(run.used)
    figures, dialogues, more = ASKED[plan.wanted.mode](plan, run, folder)
    used = run.usage(before)
    return {
        **plan.about,
        **figures,
        "faults": faults_of(dialogues),
        "calls": used.calls,
        "tokens": {"read": used.read, "written": used.written},
        **({} if run.price is None else {"cost": run.price.of(used.read, used.written)}),
        "transcripts": [dialogue.transcript() for dialogue in dialogues],
        **more,
    }


Figures = tuple[dict[str, Any], Sequence[Faulty], dict[str, Any]]


def _asked(views: Sequence[View], question: Question, wanted: Wanted, run: Run) -> Any:
    """The finished dialogues about each view, one for each sample."""
    rows = [[Dialogue(view, question) for _ in range(wanted.samples)] for view in views]
    run.together([run.finish(each, k) for row in rows for k, each in enumerate(row)])
    return rows


def _positions(plan: Plan, run: Run, folder: Path | None) -> Figures:
    views = [item.view for item in plan.items]
    rows = _asked(views, plan.wanted.question, plan.wanted, run)
    said = [[dialogue.said for dialogue in row] for row in rows]
    figures = positions_result(plan.items, [[d.strategy for d in row] for row in rows], said)
    return figures, [dialogue for row in rows for dialogue in row], {}


def _policy(plan: Plan, run: Run, folder: Path | None) -> Figures:
    (task,) = plan.tasks
    question = plan.wanted.question._replace(note=task.note)
    rows = _asked(task.views, question, plan.wanted, run)
    figures = policy_result(task, [[dialogue.strategy for dialogue in row] for row in rows])
    return figures, [dialogue for row in rows for dialogue in row], {}


def _matches(plan: Plan, run: Run, folder: Path | None) -> Figures:
    wanted, pairs = plan.wanted, []
    for game, n in plan.shares():
        ask = asking(run, wanted.question)
        pairs += play_pairs(game, n, wanted.seed, wanted.opponent, ask, run)
    dialogues = [
        answer.dialogue
        for pair in pairs
        for game in pair
        for answer in game.answers
        if answer.dialogue is not None
    ]
    figures = {"opponent": wanted.opponent, **matches_result(pairs)}
    return figures, dialogues, {"records": records(pairs)}


def _quiz(plan: Plan, run: Run, folder: Path | None) -> Figures:
    wanted = plan.wanted
    rows = [
        [QuizDialogue(question, wanted.question.chances) for _ in range(wanted.samples)]
        for question in plan.questions
    ]
    run.together([run.finish(each, k) for row in rows for k, each in enumerate(row)])
    return quiz_result(rows), [dialogue for row in rows for dialogue in row], {}


def _code(plan: Plan, run: Run, folder: Path | None) -> Figures:
    wanted, game = plan.wanted, plan.game
    assert folder is not None
    dialogue = CodeDialogue(game, folder / f"{game.slug}.py", wanted.question.chances)
    run.together([run.finish(dialogue, 0)])
    options = dict.fromkeys(wanted.options, "")
    return code_result(dialogue, wanted.n, wanted.seed, options), [dialogue], {}


ASKED: dict[str, Callable[[Plan, Run, Path | None], Figures]] = {
    POSITIONS: _positions, MATCHES: _matches, POLICY: _policy, QUIZ: _quiz, CODE: _code,
}  # fmt: skip


def faults_of(dialogues: Iterable[Faulty]) -> dict[str, int]:
    """How many answers had each fault, and how many dialogues ended without a usable one."""
    every = list(dialogues)
    faults = [fault for dialogue in every for fault in dialogue.faults]
    return {
        **{fault: faults.count(fault) for fault in FAULTS},
        "forfeits": sum(dialogue.forfeited for dialogue in every),
    }


# Before money is spent


def planned(plan: Plan, price: Price | None) -> dict[str, Any]:
    """The calls, tokens and cost, and the smallest difference that is found in four of five runs.

    In matches the number of calls is an estimate, by matches of a level with half of the regret of
    random play.
    """
    wanted, written = plan.wanted, WRITTEN
    found: dict[str, Any] = {}
    if wanted.mode == MATCHES:
        prompts, calls, found["detectable"] = _simulated(plan)
        read = sum(prompts) * calls // max(1, len(prompts)) // TOKEN
    else:
        texts = {dialogue.messages[0]["content"] for dialogue in _first_dialogues(plan)}
        samples = 1 if wanted.mode == CODE else wanted.samples
        read, calls = samples * sum(map(len, texts)) // TOKEN, samples * len(texts)
        if wanted.mode == POSITIONS:
            found["detectable"] = detectable(plan.items, wanted.samples)
        elif wanted.mode == QUIZ:  # of shares of right answers near a half
            found["detectable"] = 2.8 * (2 * 0.25 / max(1, calls)) ** 0.5
        elif wanted.mode == CODE:
            written = PROGRAM
    return {
        **plan.about,
        "calls": calls,
        "tokens": {"read": read, "written": calls * written},
        **({} if price is None else {"cost": price.of(read, calls * written)}),
        **found,
    }


def _first_dialogues(plan: Plan) -> list[Any]:
    wanted = plan.wanted
    if wanted.mode == CODE:
        return [CodeDialogue(plan.game, Path())]
    if wanted.mode == QUIZ:
        return [QuizDialogue(question) for question in plan.questions]
    views = [item.view for item in plan.items]
    question = wanted.question
    for task in plan.tasks:
        views, question = task.views, question._replace(note=task.note)
    return [Dialogue(view, question) for view in views]


def _simulated(plan: Plan) -> tuple[list[int], int, float]:
    """The characters of some prompts, the number of calls, and what the pairs can detect."""
    from duels.llm.endpoint import BuiltInPlayer

    wanted, question = plan.wanted, plan.wanted.question._replace(answer=MOVE)
    run = Run(BuiltInPlayer(RANDOM_REGRET, question))
    some = max(2, min(SIMULATED, wanted.n))
    pairs = play_pairs(plan.game, some, wanted.seed, wanted.opponent, asking(run, question), run)
    answers = [answer for pair in pairs for game in pair for answer in game.answers]
    prompts = [
        len(prompt(answer.dialogue.view, wanted.question))
        for answer in answers
        if answer.dialogue is not None
    ]
    calls = len(answers) * wanted.n // some
    return prompts, calls, detectable_score(pairs, wanted.n)
