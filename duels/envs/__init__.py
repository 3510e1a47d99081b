"""Environments for training agents: PettingZoo, Gymnasium, OpenSpiel, and batches of games.

Every game of the catalogue has the first three, from its rules, its list of moves and its encoding
of observations; only the compiled kernels of the batches are written for a game. Modules are
imported when they are used.

| import | gives | extra |
|---|---|---|
| `duels.envs.pettingzoo` | `env`, `raw_env`, `parallel_env` | `rl` |
| `duels.envs.gymnasium` | `gymnasium.make("duels/...-v0")`: one agent against an opponent | `rl` |
| `duels.envs.statistics` | `evaluate` and wrappers that include every game | `rl` |
| `duels.envs.openspiel` | `pyspiel.load_game("python_duels_...")` | `openspiel` |
| `duels.envs.vector` | thousands of games a call | `rl` |
"""
