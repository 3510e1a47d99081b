"""The environments agents are trained in: PettingZoo, Gymnasium, OpenSpiel, and batches of games.

Every game of the catalogue has the first three, made from its rules, its list of moves and its
encoding of what a player sees; nothing but the compiled kernels of the batches names a game.
Nothing is imported before it is asked for.

| import | gives | extra |
|---|---|---|
| `duels.envs.pettingzoo` | `env`, `raw_env`, `parallel_env` | `rl` |
| `duels.envs.gymnasium` | `gymnasium.make("duels/...-v0")`: one agent against an opponent | `rl` |
| `duels.envs.statistics` | `evaluate` and wrappers that count every game | `rl` |
| `duels.envs.openspiel` | `pyspiel.load_game("python_duels_...")` | `openspiel` |
| `duels.envs.vector` | thousands of games a call | `rl` |
"""
