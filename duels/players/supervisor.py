"""The supervisor of one bot process: starts it, watches it, and ends it with all it started.

    python supervisor.py LINK MEMORY PROCESSES COMMAND…

A bot's input and output go straight to the host; its errors come here, where the last of them are
kept and the rest dropped. LINK is a socket to the host. A byte on it asks the bot to come to an end
soon; its end, which is also what happens when the host dies, ends everything at once. Before the
supervisor goes it writes one line of JSON there: why it ended, and the last of the bot's errors.

On Linux nothing escapes: the supervisor is the reaper of all that the bot starts (`prctl`), so a
process that loses its parent becomes the supervisor's child, sessions and groups of its own or not,
and the supervisor goes only when it has no child left. Elsewhere what stays in the bot's process
group is ended.

It imports little and nothing of this package, because it starts with every bot.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import socket
import sys
import time
from contextlib import suppress

TICK = 0.1  # seconds between two looks at memory and processes
GRACE = 1.0  # seconds that a bot has to end by itself
ERROR_TAIL = 2000  # bytes of a bot's errors that are reported
BURST, RATE = 16 * 2**20, 2**20  # bytes of errors at once, and a second
SUBREAPER, DEATH_SIGNAL = 36, 1  # of prctl
MEMORY_LINES = (b"RssAnon:", b"RssShmem:")  # of /proc/PID/status, in kB


def main(link: socket.socket, memory: int, processes: int, command: list[str]) -> None:
    bot = Bot(link, memory, processes, command)
    why = bot.watch()
    bot.end()
    report = {"why": why, "errors": bot.errors.decode("utf-8", "replace")}
    with suppress(OSError):
        link.sendall(json.dumps(report).encode() + b"\n")


class Bot:
    """A bot's process and all that it starts."""

    def __init__(
        self, link: socket.socket, memory: int, processes: int, command: list[str]
    ) -> None:
        self.link, self.memory, self.processes = link, memory, processes
        self.errors = b""
        self._allowed, self._since = float(BURST), time.monotonic()
        self._stop = False
        self._woken, wake = os.pipe()
        for fd in (self._woken, wake):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._stopped)
        _prctl(SUBREAPER, 1)
        self._said, errors = os.pipe()
        self.pid, self.running = os.fork(), True
        if self.pid == 0:
            _become(command, memory, errors, link)
        for fd in (0, 1, errors):
            os.close(fd)

    def _stopped(self, *_: object) -> None:
        self._stop = True

    def watch(self) -> str:
        """Until it ends, breaks a limit or is no longer wanted: which of these."""
        poll = select.poll()
        for fd in (self.link.fileno(), self._said, self._woken):
            poll.register(fd, select.POLLIN)
        until = float("inf")
        while True:
            ready = {fd for fd, _ in poll.poll(1000 * TICK)}
            if self._said in ready and (why := self._hear()):
                if why == "end":
                    poll.unregister(self._said)
                else:
                    return why
            if self._woken in ready:
                with suppress(BlockingIOError):
                    os.read(self._woken, 4096)
            if self.link.fileno() in ready:
                if not self.link.recv(1):
                    return "it was no longer wanted"
                until = time.monotonic() + GRACE
            if over := self._ended() or self._excess():
                return over
            if self._stop or time.monotonic() > until:
                return "it was no longer wanted"

    def _hear(self) -> str:
        """Read what it writes to its errors; "end" where nothing more can come."""
        text = os.read(self._said, 2**16)
        self.errors = (self.errors + text)[-ERROR_TAIL:]
        now = time.monotonic()
        self._allowed = min(BURST, self._allowed + RATE * (now - self._since)) - len(text)
        self._since = now
        if self._allowed < 0:
            return f"it wrote more than {BURST >> 20} MB of errors"
        return "" if text else "end"

    def _ended(self) -> str | None:
        """Reap whatever has ended; how the bot itself did."""
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return None
                if pid == self.pid:
                    self.running = False
                    return _told(status)
        return None

    def _excess(self) -> str | None:
        """Whether it takes more than it may, with all that it started."""
        pids = _descendants()
        if len(pids) > self.processes:
            return f"it started more than {self.processes} processes"
        if sum(map(_resident, pids)) > self.memory:
            return f"it took more than {self.memory >> 20} MB of memory"
        return None

    def end(self) -> None:
        """Kill all there is. What could still start others is stopped first."""
        while True:
            stopped: set[int] = set()
            while new := set(_descendants()) - stopped:
                for pid in new:
                    _signal(pid, signal.SIGSTOP)
                stopped |= new
            if self.running or sys.platform != "linux":
                with suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)
            for pid in stopped:
                _signal(pid, signal.SIGKILL)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                break
            time.sleep(0.001)
        with suppress(OSError):  # its last words
            os.set_blocking(self._said, False)
            while text := os.read(self._said, 2**16):
                self.errors = (self.errors + text)[-ERROR_TAIL:]


def _become(command: list[str], memory: int, errors: int, link: socket.socket) -> None:
    """In the new process: be the bot."""
    try:
        os.setsid()
        _prctl(DEATH_SIGNAL, signal.SIGKILL)
        os.dup2(errors, 2)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # What is written to counts, not what is only reserved: of that, node takes terabytes.
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        os.execv(command[0], command)
    except OSError as error:
        why = f"its program cannot be started: {error.strerror}"
        link.sendall(json.dumps({"why": why, "errors": ""}).encode() + b"\n")
    finally:
        os._exit(127)


def _told(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return f"its program ended with exit status {code}"
    try:
        return f"its program was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"its program was killed by signal {-code}"


def _descendants() -> list[int]:
    """Everything that was started from here and still runs, zombies included. Linux only."""
    found: list[int] = []
    work = [os.getpid()]
    while work:
        place = f"/proc/{work.pop()}/task"
        with suppress(OSError):
            for thread in os.listdir(place):
                with suppress(OSError), open(f"{place}/{thread}/children", "rb") as file:
                    pids = [int(pid) for pid in file.read().split()]
                    found += pids
                    work += pids
    return found


def _resident(pid: int) -> int:
    """Bytes of memory that a process holds and that are no file's."""
    with suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:
        return 1024 * sum(int(line.split()[1]) for line in file if line.startswith(MEMORY_LINES))
    return 0


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    host = socket.socket(fileno=int(sys.argv[1]))
    host.set_inheritable(False)
    main(host, int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
