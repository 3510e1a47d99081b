"""The supervisor of one bot process: starts it, watches it, and ends it with all it started.

    python supervisor.py LINK MEMORY PROCESSES COMMAND…

The bot's input and output are connected to the host. Its error stream is read here; only the last
lines are kept. LINK is a socket to the host. A byte on it requests that the bot ends soon; when it
is closed, also because the host has died, everything is killed at once. Before the supervisor exits
it writes one line of JSON to LINK: why the bot ended, and the last lines of its errors.

On Linux no process of the bot can escape: the supervisor is a subreaper (`prctl`), so a process
that loses its parent becomes the supervisor's child, even in its own session or process group, and
the supervisor exits only when it has no child left. On other systems the bot's process group is
killed.

It imports few modules and none of this package, because it is started with every bot.
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

TICK = 0.1  # seconds between two checks of memory and processes
GRACE = 1.0  # seconds that a bot has to end by itself
ERROR_TAIL = 2000  # bytes of a bot's errors that are reported
BURST, RATE = 16 * 2**20, 2**20  # bytes of errors at once, and a second
SUBREAPER, DEATH_SIGNAL = 36, 1  # of prctl
MEMORY_LINES = (b"RssAnon:", b"RssShmem:")  # of /proc/PID/status, in kB
# What files in memory are called: in /proc/PID/fd those that have a name, in /proc/PID/smaps all.
IN_MEMORY = "/memfd:", "/dev/shm/"
MAPPED = tuple(name.encode() for name in (*IN_MEMORY, "/dev/zero", "/SYSV"))


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
        """Wait until the bot ends, exceeds a limit or is to be ended; returns the reason."""
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
                    return "it was no longer needed"
                until = time.monotonic() + GRACE
            if over := self._ended() or self._excess():
                return over
            if self._stop or time.monotonic() > until:
                return "it was no longer needed"

    def _hear(self) -> str:
        """Read from the error stream; returns "end" when it is closed."""
        text = os.read(self._said, 2**16)
        self.errors = (self.errors + text)[-ERROR_TAIL:]
        now = time.monotonic()
        self._allowed = min(BURST, self._allowed + RATE * (now - self._since)) - len(text)
        self._since = now
        if self._allowed < 0:
            return f"it wrote more than {BURST >> 20} MB to standard error"
        return "" if text else "end"

    def _ended(self) -> str | None:
        """Reap ended processes; returns how the bot itself ended, if it has."""
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
        """The limit that the bot and its processes exceed, if any."""
        pids = _descendants()
        if len(pids) > self.processes:
            return f"it started more than {self.processes} processes"
        if _taken(pids, self.memory) > self.memory:
            return f"it took more than {self.memory >> 20} MB of memory"
        return None

    def end(self) -> None:
        """Kill all processes. Each is stopped first, so that it cannot start others."""
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
        with suppress(OSError):  # the last error output
            os.set_blocking(self._said, False)
            while text := os.read(self._said, 2**16):
                self.errors = (self.errors + text)[-ERROR_TAIL:]


def _become(command: list[str], memory: int, errors: int, link: socket.socket) -> None:
    """In the new process: execute the program of the bot."""
    try:
        os.setsid()
        _prctl(DEATH_SIGNAL, signal.SIGKILL)
        os.dup2(errors, 2)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Limit memory that is written to, not memory that is reserved: node reserves terabytes.
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
    """All descendants of this process, zombies included. Linux only."""
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


def _taken(pids: list[int], limit: int) -> int:
    """Bytes of memory of processes: private memory, shared memory and open files in memory.

    Shared memory is first counted for each process that maps it and each file; only if that is
    above the limit, it is counted once.
    """
    held: dict[tuple[int, int], int] = {}
    for pid in pids:
        held |= _held(pid)
    files = sum(held.values())
    most = files + sum(_resident(pid, MEMORY_LINES) for pid in pids)
    if most <= limit or not files:
        return most
    private = sum(_resident(pid, MEMORY_LINES[:1]) for pid in pids)
    try:
        return private + files + sum(_mapped(pid, held) for pid in pids)
    except PermissionError:  # it hides its memory
        return most


def _resident(pid: int, lines: tuple[bytes, ...]) -> int:
    """Bytes of resident memory of a process, by lines of its status."""
    with suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:
        return 1024 * sum(int(line.split()[1]) for line in file if line.startswith(lines))
    return 0


def _held(pid: int) -> dict[tuple[int, int], int]:
    """The sizes in bytes of the open files of a process that are in memory, by device and inode."""
    found: dict[tuple[int, int], int] = {}
    place = f"/proc/{pid}/fd"
    with suppress(OSError):
        for number in os.listdir(place):
            with suppress(OSError):
                if os.readlink(f"{place}/{number}").startswith(IN_MEMORY):
                    status = os.stat(f"{place}/{number}")
                    found[status.st_dev, status.st_ino] = 512 * status.st_blocks
    return found


def _mapped(pid: int, held: dict[tuple[int, int], int]) -> int:
    """Bytes of shared memory that a process maps, without `held`; its share, if several do."""
    total, counted = 0, False
    with suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/smaps", "rb") as file:
        for line in file:
            words = line.split(None, 5)
            if len(words) >= 5 and b"-" in words[0] and not words[0].endswith(b":"):
                major, minor = (int(part, 16) for part in words[3].split(b":"))
                own = (os.makedev(major, minor), int(words[4])) not in held
                counted = own and len(words) == 6 and words[5].startswith(MAPPED)
            elif counted and line.startswith(b"Pss:"):
                total += 1024 * int(words[1])
    return total


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
