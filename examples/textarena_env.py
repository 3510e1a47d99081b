"""A game of Duels as an environment of TextArena, for two players.

python examples/textarena_env.py
"""

import textarena as ta
from textarena.envs.registration import register

from duels.core import Match
from duels.games import load
from duels.llm.dialogue import Dialogue, Reply


class DuelsEnv(ta.Env):
    def __init__(self, game: str = "firewall-breach", **options):
        self.game = load(game, **options)

    def reset(self, num_players: int = 2, seed: int | None = None):
        self.state = ta.TwoPlayerState(num_players=num_players, seed=seed)
        self.match = Match(self.game, seed or 0)
        self.state.reset(game_state={})
        self._ask()

    def _ask(self):
        player = self.match.deciders[0]
        self.state.manually_set_current_player_id(player)
        self.dialogue = Dialogue(self.match.view(player))
        message = self.dialogue.messages[-1]["content"]
        self.state.add_observation(message, ta.ObservationType.GAME_MESSAGE, to_id=player)

    def step(self, action: str):
        player = self.state.current_player_id
        self.dialogue.hear(Reply(action))
        if not self.dialogue.done:
            self.state.set_invalid_move(self.dialogue.messages[-1]["content"])
            return self.state.step(rotate_player=False)
        if self.dialogue.strategy is None:
            self.match.forfeit(player, "no usable answer")
        else:
            self.match.submit(player, next(iter(self.dialogue.strategy)))
        result = self.match.result
        if result is None:
            self._ask()
        elif result.winner is None:
            self.state.set_draw(result.reason)
        else:
            self.state.set_winner(result.winner, result.reason)
        return self.state.step(rotate_player=False)


register(id="Duels-v0", entry_point=DuelsEnv)

if __name__ == "__main__":
    env = ta.make("Duels-v0")
    env.reset(num_players=2, seed=1)
    done = False
    while not done:
        player, observation = env.get_observation()
        done, _ = env.step("MOVE: attack")
    rewards, _ = env.close()
    print(rewards)
