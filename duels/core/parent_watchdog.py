"""Ends child processes when the process that started them ends for any reason."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
TICK = 0.5  # seconds between two checks of the parent


def end_with(parent: int, number: int = signal.SIGKILL, by_kernel: bool = False) -> None:
    """Send this process, a child of `parent`, a signal as soon as `parent` has ended.

    A thread checks the parent. With `by_kernel` Linux also sends the signal itself, even while this
    process runs compiled code; the thread is still needed if the parent ended before this call, and
    on other systems. Linux sends the signal also when only the thread that started this process
    ends, so that thread must live as long as the parent.
    """
    if by_kernel and sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(DEATH_SIGNAL, number, 0, 0, 0)
    threading.Thread(
        target=_watch, args=(parent, number), name="duels-parent-watchdog", daemon=True
    ).start()


def _watch(parent: int, number: int) -> None:
    while os.getppid() == parent:
        time.sleep(TICK)
    os.kill(os.getpid(), number)
