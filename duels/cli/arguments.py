"""Argument types of the command line for argparse, with one-line errors."""

from __future__ import annotations

import argparse


def seed(text: str) -> int:
    """A whole number from 0 up."""
    if text.isascii() and text.isdigit() and len(text) <= 40:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number from 0 up, got {text[:40]!r}")


def port(text: str) -> int:
    """A TCP port."""
    if text.isascii() and text.isdigit() and len(text) <= 5 and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text[:40]!r}")


def count(text: str) -> int:
    """A whole number from 1 up."""
    if text.isascii() and text.isdigit() and 1 <= len(text) <= 6 and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a number from 1 up, got {text[:40]!r}")


def seconds(text: str) -> float:
    """A positive number of seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 1e6:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text[:40]!r}")
    return seconds


def setting(text: str) -> tuple[str, str]:
    """A rule option and its value."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected OPTION=VALUE, got {text[:40]!r}")
    return name, value
