"""`duels serve` whose store thread ends of an error that it cannot handle, once it is told to.

The signal SIGUSR1 raises `SystemExit` in that thread.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from types import FrameType

from duels.cli.main import main


def end_the_store(number: int, frame: FrameType | None) -> None:
    for thread in threading.enumerate():
        if thread.name == "store" and thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
            )


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, end_the_store)
    sys.exit(main(["serve", *sys.argv[1:]]))
