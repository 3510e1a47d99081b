"""Number Wars: rules, exact solution, kernel, charts and theme."""

from duels.core.spec import GameSpec

SPEC = GameSpec(
    rules="duels.games.number_wars.rules:NumberWars",
    solver="duels.games.number_wars.solver:NumberWarsSolution",
    kernel="duels.games.number_wars.kernel:KERNEL",
    charts="duels.games.number_wars.charts:charts",
    facts="duels.games.number_wars.charts:facts",
    lesson="duels.games.number_wars.lesson:LESSON",
    theme="theme",
    small={"numbers": "3", "lp": "10"},
)
