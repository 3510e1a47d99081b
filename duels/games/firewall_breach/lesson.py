"""The lesson of Firewall Breach: three guided moves."""

from __future__ import annotations

from duels.core.lesson import Guided, Lesson

LESSON = Lesson(
    (
        Guided(
            (),
            "Bring the opponent's firewall to zero before yours falls. An attack rolls a die: on "
            "4, 5 or 6 it takes 3, otherwise nothing. Attack.",
            "attack",
        ),
        Guided(
            ("attack", "5", "bypass"),
            "A hit. The opponent answered with a bypass, which took 1 from you without a roll. "
            "Attack again.",
            "attack",
        ),
        Guided(
            ("attack", "5", "bypass", "attack", "2", "attack", "4"),
            "You missed, and the opponent hit. A bypass never misses, but takes only 1. Bypass.",
            "bypass",
        ),
    ),
    ("attack", "5", "bypass", "attack", "2", "attack", "4", "bypass"),
    "That is all: attack for more on average, bypass when 1 is enough or a miss costs too much.",
)
