"""Ends worker processes when the process that started them ends for any reason."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
TICK = 0.5  # seconds between two checks of the parent


def end_with(parent: int) -> None:
    """End this process, a child of `parent`, as soon as `parent` has ended.

    On Linux the kernel kills it, even while it runs compiled code. The thread is for other systems,
    and for a parent that ended before the kernel was asked.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    threading.Thread(
        target=_watch, args=(parent,), name="duels-parent-watchdog", daemon=True
    ).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(TICK)
    os._exit(1)  # the supervisors of its bots see their pipes close, and end the bots
