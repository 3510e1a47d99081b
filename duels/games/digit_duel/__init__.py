"""Digit Duel: rules, solved table, kernel, charts and theme."""

from duels.core.spec import GameSpec

SPEC = GameSpec(
    rules="duels.games.digit_duel.rules:DigitDuel",
    solver="duels.games.digit_duel.solver:DigitDuelSolution",
    kernel="duels.games.digit_duel.kernel:KERNEL",
    charts="duels.games.digit_duel.charts:charts",
    facts="duels.games.digit_duel.charts:facts",
    lesson="duels.games.digit_duel.lesson:LESSON",
    data="data",
    theme="theme",
    small={"digits": "3", "life": "2/3"},
)
