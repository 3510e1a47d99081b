"""Cipher Siege: rules, trained strategy with proven bounds, kernel, charts and theme."""

from duels.core.spec import GameSpec

SPEC = GameSpec(
    rules="duels.games.cipher_siege.rules:CipherSiege",
    solver="duels.games.cipher_siege.solver:CipherSiegeSolution",
    kernel="duels.games.cipher_siege.kernel:KERNEL",
    charts="duels.games.cipher_siege.charts:charts",
    facts="duels.games.cipher_siege.charts:facts",
    lesson="duels.games.cipher_siege.lesson:LESSON",
    data="data",
    theme="theme",
    small={"values": "2", "copies": "2", "integrity": "2", "hand": "1", "limit": "1"},
    small_turns=4,
)
