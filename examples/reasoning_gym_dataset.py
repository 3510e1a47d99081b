"""Positions of a game as a data set of Reasoning Gym: the score of an answer is 1 - its regret.

python examples/reasoning_gym_dataset.py
"""

from dataclasses import dataclass

from reasoning_gym.factory import ProceduralDataset, create_dataset, register_dataset

from duels.games import load
from duels.integrations.rollout import Rollout, position_tasks
from duels.llm.dialogue import Reply


@dataclass
class DuelsConfig:
    game: str = "firewall-breach"
    size: int = 20
    seed: int = 1

    def validate(self) -> None:
        load(self.game)


class DuelsDataset(ProceduralDataset):
    def __init__(self, config: DuelsConfig):
        self.tasks = position_tasks(config.game, config.size, seed=config.seed)
        super().__init__(config=config, seed=config.seed, size=len(self.tasks))

    def __getitem__(self, number: int) -> dict:
        rollout = Rollout(self.tasks[number])
        best = max(rollout.item.choice.mixed_strategy.items(), key=lambda move: move[1])[0]
        stake = {"random_regret": rollout.random_regret}
        return {
            "question": rollout.message,
            "answer": f"MOVE: {best}",
            "metadata": {"task": self.tasks[number], "difficulty": stake},
        }

    def score_answer(self, answer: str | None, entry: dict) -> float:
        rollout = Rollout(entry["metadata"]["task"])
        rollout.hear(Reply(answer or ""))
        rollout.give_up()
        return 1 + rollout.reward("regret")


register_dataset("duels", DuelsDataset, DuelsConfig)

if __name__ == "__main__":
    data = create_dataset("duels", size=4)
    for entry in data:
        scores = [data.score_answer(answer, entry) for answer in (entry["answer"], "MOVE: bypass")]
        print(*(f"{score:.3f}" for score in scores))
