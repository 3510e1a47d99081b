"""Ends commands on SIGTERM and SIGHUP in the same way as on Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))


class Stopped(KeyboardInterrupt):
    """A termination signal other than SIGINT was received."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def status_of(stop: KeyboardInterrupt) -> int:
    """The exit status after Ctrl-C or another signal, by the convention of shells: 128 + n."""
    return 128 + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)


@contextmanager
def signals_as_exceptions(*more: int) -> Iterator[None]:
    """Raise `Stopped` on SIGTERM, SIGHUP and the signals given.

    A signal that is ignored (nohup) stays ignored.
    """
    handlers = {number: signal.getsignal(number) for number in (*SIGNALS, *more)}
    usual = {n: handler for n, handler in handlers.items() if handler == signal.SIG_DFL}
    for number in usual:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in usual.items():
            signal.signal(number, handler)


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)
