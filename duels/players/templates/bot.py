#!/usr/bin/env python3
"""A bot for Duels. The protocol is in docs/reference/bots.md.

Try it, and put it in a seat:

    PROGRAM bot check ./FILE
    PROGRAM play GAME --p2 ./FILE
"""

import json
import random
import sys
from typing import Any


def choose(view: dict[str, Any], luck: random.Random) -> str | dict[str, float]:
    """One of view["options"]; or a mix, the chance of each move, from which the host draws.

    view["game"]["slug"] says which game it is, view["observation"]["fields"] what you see,
    view["history"] what has happened, view["player"] whether you are 1 or 2. Take all randomness
    from `luck`, so that a match can be repeated with the same seed.
    """
    options: list[str] = view["options"]
    return luck.choice(options)
    # return {move: 1 / len(options) for move in options}     # the same, as a mix


def say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["type"] == "hello":
            say({"type": "ready"})
        elif asked["type"] == "choose":
            chosen = choose(asked["view"], random.Random(asked["seed"]))
            say({"type": "move", "mix" if isinstance(chosen, dict) else "move": chosen})


if __name__ == "__main__":
    main()
