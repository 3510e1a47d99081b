"""The lesson of Number Clash: three guided moves."""

from __future__ import annotations

from duels.core.lesson import Guided, Lesson

LESSON = Lesson(
    (
        Guided(
            (),
            "Both players choose a number in secret, then both are revealed. The higher number "
            "wins the round, and three rounds win the game. Play 7.",
            "7",
        ),
        Guided(
            ("7/5",),
            "7 beats 5: a point for you, and both numbers are gone. The exception is the underdog: "
            "a number exactly one below the other beats it. Play 9.",
            "9",
        ),
        Guided(
            ("7/5", "9/10"),
            "9 beats 10: the underdog wins, your second point. You can see which numbers the "
            "opponent has left. Play 3.",
            "3",
        ),
    ),
    ("7/5", "9/10", "3/3"),
    "3 against 3: equal numbers give no point. Every number can be met by some other, so a player "
    "who can be predicted loses.",
)
