"""Without the extras, pytest has no examples to look for in the modules that need them."""

from importlib.util import find_spec

NEEDS = {
    "coding.py": "numpy",
    "episode.py": "numpy",
    "render.py": "numpy",
    "position.py": "numpy",
    "observer.py": "pyspiel",
    "pettingzoo.py": "pettingzoo",
    "gymnasium.py": "gymnasium",
    "openspiel.py": "pyspiel",
}

collect_ignore = [file for file, library in NEEDS.items() if find_spec(library) is None]
