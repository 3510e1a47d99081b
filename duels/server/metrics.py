"""Figures for Prometheus, in its text format."""

from __future__ import annotations


class Metrics:
    """Counters of one process."""

    def __init__(self) -> None:
        self.moves = self.created = self.refusals = self.unavailable = 0
        self.connections = self.dropped = self.limited = self.requests = 0

    def text(self, **gauges: float) -> str:
        """All counters, and gauges that are looked up now.

        >>> print(Metrics().text(rooms=3).splitlines()[-1])
        duels_rooms 3
        """
        counters = {f"{name}_total": value for name, value in vars(self).items()}
        counters["connections"] = counters.pop("connections_total")
        lines = []
        for name, value in {**counters, **gauges}.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines += [f"# TYPE duels_{name} {kind}", f"duels_{name} {value:g}"]
        return "\n".join(lines) + "\n"
