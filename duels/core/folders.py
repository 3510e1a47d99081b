"""The user's folders for data, state and caches, by the XDG base directory specification."""

import os


def data_folder() -> str:
    """The folder of solved tables, keys and the server's database."""
    return _folder("XDG_DATA_HOME", "~/.local/share")


def state_folder() -> str:
    """The folder of saved matches."""
    return _folder("XDG_STATE_HOME", "~/.local/state")


def cache_folder() -> str:
    """The folder of what can be made again, such as compiled code."""
    return _folder("XDG_CACHE_HOME", "~/.cache")


def _folder(variable: str, usual: str) -> str:
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):  # the specification: relative paths are invalid and ignored
        base = os.path.expanduser(usual)
    return os.path.join(base, "duels")
