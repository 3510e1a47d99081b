"""`duels serve` with the system-call filter of deploy/duels.service, and no writable code.

The kernel applies what systemd would: PR_SET_MDWE for MemoryDenyWriteExecute, and a filter of
libseccomp with the lists of `systemd-analyze syscall-filter`.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import re
import subprocess
import sys
from pathlib import Path

UNIT = Path(__file__).parents[2] / "deploy" / "duels.service"
PR_SET_NO_NEW_PRIVS, PR_SET_MDWE, REFUSE_EXEC_GAIN = 38, 65, 1
ALLOW, ERROR = 0x7FFF0000, 0x00050000


def groups() -> dict[str, list[str]]:
    """The lists of system calls of systemd, each a line `@name` with its members."""
    command = ["systemd-analyze", "--no-pager", "syscall-filter"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[str]] = {}
    for line in shown.splitlines():
        if line.startswith("@"):
            name = line.strip()
            found[name] = []
        elif line.startswith("    ") and not line.strip().startswith("#"):
            found[name].append(line.strip())
    return found


def expanded(name: str, known: dict[str, list[str]]) -> set[str]:
    if not name.startswith("@"):
        return {name}
    return {call for member in known[name] for call in expanded(member, known)}


def apply() -> None:
    """Restrict this process as the unit does."""
    known, allowed = groups(), set[str]()
    for refused, names in re.findall(r"(?m)^SystemCallFilter=(~?)(.*)$", UNIT.read_text("utf-8")):
        for name in names.split():
            calls = expanded(name, known)
            allowed = allowed - calls if refused else allowed | calls
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert "MemoryDenyWriteExecute=yes" in UNIT.read_text("utf-8")
    if libc.prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0):
        sys.exit(f"this kernel has no PR_SET_MDWE: {errno.errorcode[ctypes.get_errno()]}")
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    made = ctypes.c_void_p(seccomp.seccomp_init(ERROR | errno.EPERM))
    for call in sorted(allowed):
        number = seccomp.seccomp_syscall_resolve_name(call.encode())
        if number >= 0:  # else it is of another architecture
            assert seccomp.seccomp_rule_add(made, ALLOW, number, 0) == 0, call
    assert seccomp.seccomp_load(made) == 0


if __name__ == "__main__":
    apply()
    from duels.cli.main import main

    sys.exit(main(["serve", *sys.argv[1:]]))
