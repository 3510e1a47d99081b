"""Steps a second of random play in every environment, beside its nearest peers in the same run.

    python3 benchmarks/envs.py [--fast] [--seconds S] [--columns C ...]

A step is one action with its chance, the next mask and observation, and the next game where one
ends; a sealed round counts once in the pure rules, the batch and OpenSpiel, and as its two picks
in PettingZoo. One core, processor time, after a warm-up. All take turns and the best of each
counts, as other programs can only make a run slower.

Three ways to run a PettingZoo game are timed: as its library offers it (`env`), without any wrapper
(`raw`), and in PettingZoo's three usual wrappers (`stock`). The last is mostly the wrappers' own
time: the row "an empty game" says how fast a game that does nothing at all can be in them.

Goals: `env` at least 3 times tictactoe_v3 and leduc_holdem_v4; OpenSpiel adapters faster than
python_tic_tac_toe. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import importlib
import time
import warnings
from collections.abc import Callable
from random import Random
from typing import Any

from duels.core.chance import draw
from duels.core.game import Chance, Decide
from duels.core.match import TURN_LIMIT
from duels.games import BUILT_IN, load

BATCH = 4096
AEC_GOAL = 3.0

# Plays for about so many seconds and says how many steps it took.
Play = Callable[[float], int]


def until(seconds: float) -> Callable[[], bool]:
    end = time.process_time() + seconds
    return lambda: time.process_time() < end


def pure(slug: str) -> Play:
    """The rules alone, with the same seeded chance."""
    game, randomness, numbers = load(slug), Random(1), iter(range(10**9))

    def play(seconds: float) -> int:
        steps, more = 0, until(seconds)
        while more():
            state, seed, outcomes, decisions = game.start(), next(numbers), 0, 0
            while decisions < TURN_LIMIT:
                turn = game.turn(state)
                if isinstance(turn, Decide):
                    picks = [randomness.choice(options) for options in turn.options.values()]
                    state = game.play(state, *picks)
                    decisions += 1
                elif isinstance(turn, Chance):
                    outcomes += 1
                    state = game.play(state, draw(seed, outcomes, turn.odds))
                else:
                    break
            steps += decisions
        return steps

    return play


def pettingzoo(env: Any) -> Play:
    """Any AEC environment with masks, through the loop of PettingZoo's documentation."""
    randomness = Random(1)
    env.reset(seed=1)

    def play(seconds: float) -> int:
        steps, more = 0, until(seconds)
        while more():
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                actions = observation["action_mask"].nonzero()[0]
                env.step(actions[int(randomness.random() * len(actions))])
                steps += 1
        return steps

    return play


def gymnasium(slug: str) -> Play:
    """The environment of one agent against the random opponent; only the agent's steps count."""
    randomness = Random(1)
    env = importlib.import_module("duels.envs.gymnasium").DuelEnv(slug, "random")
    _, info = env.reset(seed=1)

    def play(seconds: float) -> int:
        nonlocal info
        steps, more = 0, until(seconds)
        while more():
            actions = info["action_mask"].nonzero()[0]
            action = actions[int(randomness.random() * len(actions))]
            _, _, terminated, truncated, info = env.step(action)
            steps += 1
            if terminated or truncated:
                _, info = env.reset()
        return steps

    return play


def stock(env: Any) -> Any:
    """PettingZoo's usual wrappers, as its classic games have them."""
    wrappers = importlib.import_module("pettingzoo.utils.wrappers")
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env))


def empty() -> Any:
    """A game of eight moves that does nothing: all that is left is PettingZoo's own time."""
    np, zoo = importlib.import_module("numpy"), importlib.import_module("pettingzoo")
    space = importlib.import_module("gymnasium").spaces.Discrete(9)
    seen = {"observation": np.zeros(9, np.int8), "action_mask": np.ones(9, np.int8)}
    agents = ["player_1", "player_2"]

    class Empty(zoo.AECEnv):  # type: ignore[misc, name-defined]
        metadata = {"name": "empty_v0"}
        possible_agents = agents
        observe = staticmethod(lambda agent: seen)
        action_space = staticmethod(lambda agent: space)

        def reset(self, seed: Any = None, options: Any = None) -> None:
            self.agents, self.left, self.agent_selection = agents[:], 8, agents[0]
            self.rewards, self._cumulative_rewards = (
                dict.fromkeys(agents, 0),
                dict.fromkeys(agents, 0),
            )
            self.terminations = dict.fromkeys(agents, False)
            self.truncations = dict.fromkeys(agents, False)
            self.infos: Any = {agent: {} for agent in agents}

        def step(self, action: Any) -> None:
            if self.terminations[self.agent_selection]:
                self._was_dead_step(action)
                return
            self.left -= 1
            if not self.left:
                self.terminations = dict.fromkeys(agents, True)
            self.agent_selection = agents[self.left % 2]

    return Empty()


def drawn(outcomes: list[tuple[int, float]], ticket: float) -> int:
    """The outcome that a number from 0 to 1 falls on: faster than what `random` has for it."""
    for outcome, odds in outcomes:
        ticket -= odds
        if ticket < 0:
            return outcome
    return outcomes[-1][0]


def openspiel(name: str) -> Play:
    """Any OpenSpiel game through Python, with legal actions but without tensors."""
    randomness = Random(1)
    game = importlib.import_module("pyspiel").load_game(name)

    def play(seconds: float) -> int:
        steps, more = 0, until(seconds)
        while more():
            state = game.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(drawn(state.chance_outcomes(), randomness.random()))
                    continue
                if state.is_simultaneous_node():
                    state.apply_actions([randomness.choice(state.legal_actions(p)) for p in (0, 1)])
                else:
                    state.apply_action(randomness.choice(state.legal_actions()))
                steps += 1
        return steps

    return play


def vector_rate(slug: str) -> Play | str:
    """The compiled batch, with the mask and the observation after each step."""
    try:
        batch = importlib.import_module("duels.envs.vector").Batch(load(slug), BATCH, seed=1)
    except ImportError:
        return "not present"

    def play(seconds: float) -> int:
        steps, more = 0, until(seconds)
        while more():
            batch.step(batch.random_actions())
            _ = batch.mask, batch.observation
            steps += BATCH
        return steps

    return play


def plays() -> dict[tuple[str, str], Play]:
    """Everything that can be timed here, by row and column."""
    found: dict[tuple[str, str], Play] = {}
    for slug in BUILT_IN:
        found[slug, "pure"] = pure(slug)
    if installed("pettingzoo"):
        zoo = importlib.import_module("duels.envs.pettingzoo")
        rows = {slug: (zoo.env(slug), zoo.raw_env(slug), zoo.raw_env(slug)) for slug in BUILT_IN}
        rows["an empty game"] = (stock(empty()), empty(), empty())
        for module in ("tictactoe_v3", "leduc_holdem_v4"):
            if (peer := classic(module)) is not None:
                rows[module] = (peer.env(), peer.raw_env(), peer.raw_env())
        for row, (env, raw, another) in rows.items():
            found[row, "env"], found[row, "raw"] = pettingzoo(env), pettingzoo(raw)
            found[row, "stock"] = pettingzoo(stock(another))
    if installed("gymnasium"):
        for slug in BUILT_IN:
            found[slug, "gym"] = gymnasium(slug)
    if installed("pyspiel"):
        importlib.import_module("duels.envs.openspiel")
        importlib.import_module("open_spiel.python.games")
        for name in ("python_tic_tac_toe", "goofspiel", "leduc_poker"):
            found[name, "spiel"] = openspiel(name)
        for slug in BUILT_IN:
            found[slug, "spiel"] = openspiel(f"python_duels_{slug.replace('-', '_')}")
    for slug in BUILT_IN:
        if not isinstance(rate := vector_rate(slug), str):
            found[slug, "batch"] = rate
    return found


def installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def classic(module: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # this way to import them is deprecated
        try:
            return importlib.import_module(f"pettingzoo.classic.{module}")
        except ImportError:
            return None


COLUMNS = ("pure", "env", "raw", "stock", "gym", "spiel", "batch")


def main() -> None:
    parser = argparse.ArgumentParser(description="time random play in every environment")
    parser.add_argument("--fast", action="store_true", help="one short turn: a smoke test")
    parser.add_argument("--seconds", type=float, default=1.0, help="of one turn of one column")
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=COLUMNS, metavar="C")
    given = parser.parse_args()
    seconds, turns = (0.05, 1) if given.fast else (given.seconds, 4)
    timed = {key: play for key, play in plays().items() if key[1] in given.columns}
    rates = dict.fromkeys(timed, 0.0)
    for play in timed.values():
        play(seconds if given.fast else 3.0)  # compiled, and with what is remembered remembered
    for _ in range(turns):
        for key, play in timed.items():
            began = time.process_time()
            done = play(seconds)
            rates[key] = max(rates[key], done / (time.process_time() - began))
    report(rates)


def report(rates: dict[tuple[str, str], float]) -> None:
    print("thousand steps a second".ljust(24) + "".join(f"{column:>10}" for column in COLUMNS))
    for row in dict.fromkeys(row for row, _ in rates):
        cells = (rates.get((row, column)) for column in COLUMNS)
        shown = (f"{rate / 1000:10.1f}" if rate else f"{'-':>10}" for rate in cells)
        print(row.ljust(24) + "".join(shown))
    print()
    for column, peers in {
        "env": ("tictactoe_v3", "leduc_holdem_v4"),
        "raw": ("tictactoe_v3", "leduc_holdem_v4"),
        "stock": ("tictactoe_v3", "leduc_holdem_v4"),
        "spiel": ("python_tic_tac_toe",),
    }.items():
        for peer in peers:
            if (base := rates.get((peer, column))) is None:
                print(f"{column} / {peer}: not timed")
                continue
            goal = {"env": f"   goal: {AEC_GOAL:g}", "spiel": "   goal: 1"}.get(column, "")
            ratios = (f"{slug} {rates[slug, column] / base:.1f}" for slug in BUILT_IN)
            print(f"{column} / {peer}: {', '.join(ratios)}{goal}")


if __name__ == "__main__":
    main()
