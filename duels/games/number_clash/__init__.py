"""Number Clash: rules, solved table, kernel, charts and theme."""

from duels.core.spec import GameSpec

SPEC = GameSpec(
    rules="duels.games.number_clash.rules:NumberClash",
    solver="duels.games.number_clash.solver:NumberClashSolution",
    kernel="duels.games.number_clash.kernel:KERNEL",
    charts="duels.games.number_clash.charts:charts",
    facts="duels.games.number_clash.charts:facts",
    lesson="duels.games.number_clash.lesson:LESSON",
    data="data",
    theme="theme",
    small={"numbers": "4", "points": "2"},
)
