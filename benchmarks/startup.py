"""How long the first prompt takes, as a ratio to a bare `import argparse` in the same run.

    python3 benchmarks/startup.py [--runs N]

The goal is a ratio of at most 1.7. Runs of both take turns, and the medians are compared.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

GOAL = 1.7
PROMPT = b"'bypass'):"
ROOT = Path(__file__).parent.parent
# Compiled files are kept, as they are when a program runs twice.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def bare() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import argparse"], env=ENVIRONMENT, check=True)
    return time.perf_counter() - began


def first_prompt() -> float:
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "duels", "play", "firewall-breach"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        seen = b""
        while PROMPT not in seen:
            more = os.read(process.stdout.fileno(), 4096)
            if not more:
                sys.exit("the program ended before its first prompt")
            seen += more
        took = time.perf_counter() - began
        process.kill()
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description="time the first prompt")
    parser.add_argument("--runs", type=int, default=40)
    runs = parser.parse_args().runs
    first_prompt()
    pairs = [(bare(), first_prompt()) for _ in range(runs)]
    base, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"python3 -c 'import argparse'        {base * 1000:6.1f} ms")
    print(f"duels play, to the first prompt     {ours * 1000:6.1f} ms")
    print(f"ratio                               {ours / base:6.2f}     goal: at most {GOAL}")


if __name__ == "__main__":
    main()
