"""A child process that answers lines with lines, within limits of time, memory and output.

A supervisor process enforces its limits and ends it (`duels.players.supervisor`); lines go to and
from it directly. Every failure is raised as `Misbehaved`, after the process was ended.

>>> echo = Process(["/bin/cat"], ProcessLimits())
>>> echo.ask(b"hello", seconds=5.0)
b'hello'
>>> echo.end()
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from glob import glob
from typing import NamedTuple

from duels.core.errors import Misbehaved, OptionError, quote

SUPERVISOR = os.path.join(os.path.dirname(__file__), "supervisor.py")
MARK = "DUELS_BOT"  # in the environment of a program and of all that it starts
# The variables that a program gets from its host: where things are, and the language. Others may be
# secrets of the host.
PASSED = (
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "PYTHONPATH", "PYTHONHOME",
    "VIRTUAL_ENV", "NODE_PATH", "JAVA_HOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "OMP_NUM_THREADS",
)  # fmt: skip
MORE = "DUELS_BOT_ENV"  # names further variables that are passed
END_NOTICE = 2.0  # seconds for the supervisor to report an end after the output has ended
PATIENCE = 10.0  # seconds that the supervisor may take for killing
SHOWN = 160  # characters of a program's last error


class ProcessLimits(NamedTuple):
    """The limits of a program. In a match with a clock, that clock limits its answers too."""

    seconds: float = 10.0  # for an answer; without a clock, unless `always` is set
    start: float = 30.0  # seconds until it is ready
    memory: int = 1024  # MB, with all that it starts
    processes: int = 64
    line: int = 65536  # bytes of an answer
    always: bool = False  # `seconds` limits answers in a match with a clock as well

    @classmethod
    def usual(cls) -> ProcessLimits:
        """The defaults, or the values of DUELS_BOT_SECONDS, _START and _MEMORY if they are set."""
        seconds, start, memory = (
            _number(f"DUELS_BOT_{name}") for name in ("SECONDS", "START", "MEMORY")
        )
        usual = cls()
        return cls(
            seconds=usual.seconds if seconds is None else seconds,
            start=usual.start if start is None else start,
            memory=usual.memory if memory is None else int(memory),
        )


def _number(name: str) -> float | None:
    text = os.environ.get(name)
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1e6:
        raise OptionError(f"{name}: expected a number above 0; got {quote(text)}")
    return value


def _environment() -> dict[str, str]:
    """The environment of a program: the variables of `PASSED`, and those that `MORE` names."""
    names = {*PASSED, *os.environ.get(MORE, "").replace(",", " ").split()}
    return {name: value for name, value in os.environ.items() if name in names}


class Late(Misbehaved):
    """A program did not answer in time."""


class Process:
    """A running program, until `end`, `kill` or a failure."""

    def __init__(self, command: list[str], limits: ProcessLimits) -> None:
        self.limits, self.owner = limits, os.getpid()
        self._mark = os.urandom(16).hex()
        self._link, link = socket.socketpair()
        with link:
            number = str(link.fileno())
            taken = [str(limits.memory << 20), str(limits.processes)]
            try:
                self._supervisor = subprocess.Popen(
                    [sys.executable, "-I", "-S", SUPERVISOR, number, *taken, *command],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    bufsize=0, pass_fds=(link.fileno(),), start_new_session=True,
                    env={**_environment(), MARK: self._mark},
                )  # fmt: skip
            except OSError as error:
                self._link.close()
                raise Misbehaved(f"its program cannot be started: {error.strerror}") from None
        assert self._supervisor.stdin is not None
        assert self._supervisor.stdout is not None
        self._input, self._output = self._supervisor.stdin, self._supervisor.stdout
        self._in, self._out = self._input.fileno(), self._output.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self._readable, self._writable = select.poll(), select.poll()
        for readable in (self._out, self._link.fileno()):  # the supervisor writes only at the end
            self._readable.register(readable, select.POLLIN)
        self._writable.register(self._in, select.POLLOUT)

    def ask(self, line: bytes, seconds: float, limit: str = "") -> bytes:
        """Send a line and return the line that answers it; `limit` is the limit in words."""
        until, limit = time.monotonic() + seconds, limit or f"within {seconds:g} s"
        if self._readable.poll(0):
            early = self._read()
            raise (
                self.failed(f"it wrote {shown(early)} before it was asked")
                if early
                else (self._broken())
            )
        self._send(line, until, f"it did not answer {limit}")
        return self._line(until, limit)

    def tell(self, line: bytes) -> None:
        """Send a line without an answer; a program that does not read it fails."""
        self._send(line, time.monotonic(), "it does not read its input")

    def _send(self, line: bytes, until: float, late: str) -> None:
        rest = memoryview(line + b"\n")
        while True:
            try:
                rest = rest[os.write(self._in, rest) :]
            except BlockingIOError:
                pass
            except BrokenPipeError:
                raise self._broken(otherwise="it closed its input") from None
            if not rest:
                return
            if not self._writable.poll(_left(until)):
                raise self.failed(late, Late)

    def _line(self, until: float, limit: str) -> bytes:
        found = b""
        while True:
            if not self._readable.poll(_left(until)):
                if found:
                    raise self.failed(f"it wrote {shown(found)} and no newline {limit}", Late)
                raise self.failed(f"it did not answer {limit}", Late)
            if not (read := self._read()):
                raise self._broken(f"it wrote {shown(found)} and no newline" if found else "")
            found = found + read if found else read
            end = found.find(b"\n")
            if (end if end >= 0 else len(found)) > self.limits.line:
                raise self.failed(f"it answered with more than {self.limits.line} bytes")
            if end >= 0 and not found[end + 1 :].strip(b"\0"):  # a null byte: half of a newline
                return found[:end]  # in UTF-16, which is refused as not UTF-8
            if end >= 0:
                more = shown(found[end + 1 :])
                raise self.failed(f"it answered with more than one line; the second is {more}")

    def _read(self) -> bytes:
        """Read what it has written; empty if the process or its output has ended."""
        try:
            return os.read(self._out, 65536)
        except BlockingIOError:
            return b""

    def _broken(self, before: str = "", otherwise: str = "it closed its output") -> Misbehaved:
        """The failure for a closed output or input, with the reason why the process ended.

        `before` is what was wrong before, `otherwise` the reason if the process goes on.
        """
        with suppress(OSError):
            self._link.settimeout(END_NOTICE)
            self._link.recv(1, socket.MSG_PEEK)
            otherwise = ""
        return self.failed(otherwise, before=before)

    def failed(self, why: str, kind: type[Misbehaved] = Misbehaved, before: str = "") -> Misbehaved:
        """End it and return the failure, with the supervisor's reason if it has one."""
        report = self.kill()
        last = _last(str(report.get("errors", "")))
        found = why or str(report.get("why", "its program was killed"))
        found = f"{before}; then {found}" if before else found
        return kind(f"{found} ({last})" if last else found)

    def kill(self) -> dict[str, object]:
        """Kill it and all that it started; returns the supervisor's report."""
        return self._end(b"")

    def end(self) -> None:
        """Close its input and give it a second to end by itself."""
        self._input.close()
        self._end(b".")

    def stop(self) -> None:
        """End it from any thread: a caller that waits for its answer gets an error."""
        self._supervisor.terminate()

    def _end(self, word: bytes) -> dict[str, object]:
        found = b""
        with suppress(OSError), self._link:
            self._link.settimeout(PATIENCE)
            if word:
                self._link.sendall(word)
            else:
                self._link.shutdown(socket.SHUT_WR)
            while read := self._link.recv(4096):
                found += read
        for file in (self._input, self._output):
            with suppress(OSError):
                file.close()
        try:
            self._supervisor.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        with suppress(ValueError, IndexError):
            report = json.loads(found.splitlines()[0])
            return report if isinstance(report, dict) else {}
        _kill_marked(
            f"{MARK}={self._mark}"
        )  # the supervisor could not do it, as another process has ended it
        return {}

    def forget(self) -> None:
        """Release it in a forked process, so that the parent alone controls it."""
        for file in (self._input, self._output, self._link):
            file.close()
        self._supervisor.returncode = 0  # so that it is not waited for


def _kill_marked(mark: str) -> None:
    """Kill every process with a mark in its environment, if the system shows environments."""
    found = True
    while found:
        found = False
        for place in glob("/proc/[0-9]*/environ"):
            with suppress(OSError):
                with open(place, "rb") as file:
                    marked = mark.encode() in file.read().split(b"\0")
                if marked:
                    os.kill(int(place.split("/")[2]), signal.SIGKILL)
                    found = True


def shown(text: bytes) -> str:
    """The beginning of a program's output, in quotes.

    >>> shown(b'attack\\nbypass\\n'), shown("\\ufeff{}".encode())
    ("'attack'", "'\\\\ufeff{}'")
    """
    first, _, _ = text.lstrip(b"\r\n").partition(b"\n")
    return quote(first.decode("utf-8", "backslashreplace").rstrip("\r"))


def _left(until: float) -> float:
    """Milliseconds until a point in time, for poll."""
    return max(0.0, 1000 * (until - time.monotonic()))


def _last(errors: str) -> str:
    """The last line that is not empty, in a form for records."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return recordable(lines[-1]) if lines else ""


def recordable(text: str) -> str:
    """A text of a program, shortened and without control characters, for a record."""
    return "".join(c if c.isprintable() else " " for c in text[:SHOWN]).strip()
