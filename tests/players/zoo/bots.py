"""python3 bots.py NAME …: the bot of that name. Imports nothing of this project."""

from __future__ import annotations

import json
import mmap
import os
import signal
import sys
import time
from contextlib import suppress
from typing import Any

CHUNK = 16 * 2**20


def say(answer: Any) -> None:
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)


def raw(text: bytes) -> None:
    os.write(1, text)


def move(text: Any) -> None:
    say({"type": "move", "move": text})


def mix(chances: Any) -> None:
    say({"type": "move", "mix": chances})


def sleep() -> None:
    while True:
        time.sleep(60)


# Silence


def hangs(asked: Any) -> None:
    sleep()


def late(asked: Any) -> None:
    """Only the first time of all: another process with the same words plays on."""
    mark = sys.argv[2] if len(sys.argv) > 2 else ""
    if not mark or not os.path.exists(mark):
        if mark:
            open(mark, "w").close()
        time.sleep(asked["seconds"] + 2)
    move(asked["view"]["options"][0])


def ignores_sigterm(asked: Any) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    sleep()


def stops_itself(asked: Any) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


# Ends


def exits(asked: Any) -> None:
    sys.exit(0)


def crashes(asked: Any) -> None:
    print(1 // 0)


def segfaults(asked: Any) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def closes_output(asked: Any) -> None:
    os.close(1)
    sleep()


def closes_everything(asked: Any) -> None:
    os.closerange(0, 3)
    sleep()


def kills_its_keeper(asked: Any) -> None:
    for _ in range(2):
        os.fork()
    with suppress(ProcessLookupError):
        os.kill(os.getppid(), signal.SIGKILL)
    sleep()


# Too much


def floods(asked: Any) -> None:
    while True:
        raw(b"x" * 65536)


def floods_lines(asked: Any) -> None:
    while True:
        raw(b'{"type": "move", "move": "1"}\n')


def long_line(asked: Any) -> None:
    say({"type": "move", "move": asked["view"]["options"][0], "why": "x" * 10**6})


def errors_without_end(asked: Any) -> None:
    while True:
        os.write(2, b"an error\n" * 4096)


def allocates(asked: Any) -> None:
    kept = []
    while True:
        kept.append(b"x" * CHUNK)


def allocates_in_children(asked: Any) -> None:
    for _ in range(8):
        if os.fork() == 0:
            kept = [b"x" * CHUNK for _ in range(8)]
            sleep()
            print(kept)
    sleep()


def allocates_shared(asked: Any) -> None:
    kept = []
    for _ in range(64):  # a gigabyte, if nothing limits it
        kept.append(mmap.mmap(-1, CHUNK))
        kept[-1].write(b"x" * CHUNK)
    sleep()


def forks(asked: Any) -> None:
    if os.fork() == 0:
        os.fork()
    sleep()


def forks_and_leaves(asked: Any) -> None:
    if os.fork() == 0:
        os.fork()
        sleep()
    os._exit(0)


def escapes(asked: Any) -> None:
    """A daemon as daemons are made: another session, another parent, signals ignored."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
                signal.signal(number, signal.SIG_IGN)
            os.closerange(0, 10)
            sleep()
        os._exit(0)
    os.wait()
    os._exit(0)


def forks_without_end(asked: Any) -> None:
    for _ in range(10):  # a thousand at most, if nothing limits it
        os.fork()
    sleep()


# Nonsense


def early(asked: Any) -> None:
    move("1")
    time.sleep(0.5)
    move("1")


def two_answers(asked: Any) -> None:
    raw(b'{"type": "move", "move": "1"}\n{"type": "move", "move": "1"}\n')


def no_newline(asked: Any) -> None:
    raw(b'{"type": "move", "move": "1"}')
    sleep()


def no_newline_at_the_end(asked: Any) -> None:
    raw(b'{"type": "move", "move": "1"}')
    sys.exit(0)


def byte_order_mark(asked: Any) -> None:
    raw(b'\xef\xbb\xbf{"type": "move", "move": "1"}\n')


def utf16(asked: Any) -> None:
    raw('{"type": "move", "move": "1"}\n'.encode("utf-16"))


def not_utf8(asked: Any) -> None:
    raw(b'{"type": "move", "move": "\xff\xfe"}\n')


def not_json(asked: Any) -> None:
    say("I attack!")


def deep(asked: Any) -> None:
    say("[" * 30000 + "]" * 30000)


def huge_number(asked: Any) -> None:
    say('{"type": "move", "move": ' + "9" * 20000 + "}")


def empty_line(asked: Any) -> None:
    say("")


def a_list(asked: Any) -> None:
    say(asked["view"]["options"])


def other_type(asked: Any) -> None:
    say({"type": "ready"})


def no_move(asked: Any) -> None:
    say({"type": "move"})


def move_and_mix(asked: Any) -> None:
    option = asked["view"]["options"][0]
    say({"type": "move", "move": option, "mix": {option: 1}})


def unlisted(asked: Any) -> None:
    move("surrender")


def null_move(asked: Any) -> None:
    move(None)


def number_move(asked: Any) -> None:
    move(7)


def escape_codes(asked: Any) -> None:
    move("\x1b[2J")


def surrogate(asked: Any) -> None:
    move("\ud800")


def nan_mix(asked: Any) -> None:
    mix({asked["view"]["options"][0]: float("nan")})


def infinite_mix(asked: Any) -> None:
    say('{"type": "move", "mix": {' + json.dumps(asked["view"]["options"][0]) + ": 1e999}}")


def negative_mix(asked: Any) -> None:
    one, two = asked["view"]["options"][:2]
    mix({two: -1, one: 2})


def text_mix(asked: Any) -> None:
    mix({asked["view"]["options"][0]: "half"})


def true_mix(asked: Any) -> None:
    mix({asked["view"]["options"][0]: True})


def half_mix(asked: Any) -> None:
    mix({asked["view"]["options"][0]: 0.5})


def empty_mix(asked: Any) -> None:
    mix({})


def list_mix(asked: Any) -> None:
    mix([1.0])


def unlisted_mix(asked: Any) -> None:
    mix({"surrender": 1.0})


# As they should


def plays(asked: Any) -> None:
    move(asked["view"]["options"][0])


def mixes(asked: Any) -> None:
    options = asked["view"]["options"]
    mix(dict.fromkeys(options, 1 / len(options)))


def chatty(asked: Any) -> None:
    os.write(2, b"thinking\n" * 100_000)
    plays(asked)


def windows_lines(asked: Any) -> None:
    raw(json.dumps({"type": "move", "move": asked["view"]["options"][0]}).encode() + b"\r\n")


def main(name: str) -> None:
    if name == "crashes_at_once":
        sys.exit(3)
    if name == "slow_to_start":
        time.sleep(3.0)
    for line in sys.stdin:
        asked = json.loads(line)
        if asked["type"] == "hello":
            if name == "hangs_at_hello":
                sleep()
            say({"type": "steady" if name == "not_ready" else "ready"})
            if name == "never_reads":
                sleep()
        elif asked["type"] == "choose":
            globals()["plays" if name in ("slow_to_start", "not_ready") else name](asked)


if __name__ == "__main__":
    main(sys.argv[1])
