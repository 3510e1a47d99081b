"""Firewall Breach: rules, exact solution, kernel, charts, Pgx environment and theme."""

from duels.core.spec import GameSpec

SPEC = GameSpec(
    rules="duels.games.firewall_breach.rules:FirewallBreach",
    solver="duels.games.firewall_breach.solver:FirewallBreachSolution",
    kernel="duels.games.firewall_breach.kernel:KERNEL",
    charts="duels.games.firewall_breach.charts:charts",
    facts="duels.games.firewall_breach.charts:facts",
    lesson="duels.games.firewall_breach.lesson:LESSON",
    theme="theme",
)
