"""The module that verifiers loads as `duels-verifiers`."""

from duels.integrations.verifiers import DuelsEnv, DuelsTaskset

__all__ = ["DuelsEnv", "DuelsTaskset"]
