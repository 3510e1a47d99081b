"""The lesson of Digit Duel: three guided moves."""

from __future__ import annotations

from duels.core.lesson import Guided, Lesson

LESSON = Lesson(
    (
        Guided(
            (),
            "Bring the opponent's life points to zero. Each digit can be used once, to attack or "
            "to defend. Attack with 7.",
            "7",
        ),
        Guided(
            ("7", "4", "5"),
            "The opponent defended with 4 and lost the difference, 3. Now the opponent attacks "
            "with 5, and you see it before you answer. An equal digit blocks. Defend with 5.",
            "5",
        ),
        Guided(
            ("7", "4", "5", "5"),
            "Blocked: you lost nothing. A player who has defended attacks next. The opponent still "
            "has 9, which would block everything. Attack with 9.",
            "9",
        ),
    ),
    ("7", "4", "5", "5", "9", "6"),
    "The opponent kept the 9 and lost 3 more. A high digit that is spent on defence is missing "
    "later: plan which digits meet which.",
)
