"""The lesson of Number Wars: three guided moves."""

from __future__ import annotations

from duels.core.lesson import Guided, Lesson

LESSON = Lesson(
    (
        Guided(
            (),
            "Bring the opponent's life points to zero. An attack takes the number you say, and "
            "the number goes on your record. Attack with 10.",
            "10",
        ),
        Guided(
            ("10", "9"),
            "10 is on your record now. An attack with a number on your own record fails and loses "
            "the turn. Attack with 9.",
            "9",
        ),
        Guided(
            ("10", "9", "9", "10"),
            "The opponent has the same two numbers on record as you. Attack with 8.",
            "8",
        ),
    ),
    ("10", "9", "9", "10", "8", "8"),
    "When you have used all ten numbers, your record clears and all are free again.",
)
