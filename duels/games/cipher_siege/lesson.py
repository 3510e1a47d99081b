"""The lesson of Cipher Siege: three guided moves."""

from __future__ import annotations

from duels.core.lesson import Guided, Lesson

LESSON = Lesson(
    (
        Guided(
            ("2", "4", "3", "1", "1", "5", "5"),
            "Bring the opponent's code integrity to zero. You drew a 5. An attack takes the sum of "
            "its cards, and one more for each card of a sequence. Attack with 1, 2 and 3.",
            "attack 1 2 3",
        ),
        Guided(
            ("2", "4", "3", "1", "1", "5", "5", "attack 1 2 3", "2", "attack 4 5", "4"),
            "6 and a bonus of 3: the opponent lost 9, then took 11 from you with 4 and 5. A "
            "defence restores the value of one card. Defend with the 4.",
            "defend 4",
        ),
        Guided(
            (
                "2", "4", "3", "1", "1", "5", "5", "attack 1 2 3", "2", "attack 4 5", "4",
                "defend 4", "3", "defend 2", "3",
            ),
            "A swap gives the opponent a card of your choice for a card you cannot see. Swap "
            "the 3.",
            "swap 3",
        ),
    ),
    (
        "2", "4", "3", "1", "1", "5", "5", "attack 1 2 3", "2", "attack 4 5", "4",
        "defend 4", "3", "defend 2", "3", "swap 3", "3",
    ),
    "Hands are secret; the discarded cards, the sizes of the hands and both integrities are open. "
    "Each turn begins with a card from the deck.",
)  # fmt: skip
