"""The exact learning curve of a recipe: how much a policy still gives away, and to whom.

Two figures, both exact and in expected score (1 for a win, 0 for a loss), the mean of both seats:

- against perfect play: what the policy scores less than perfect play would score in its place;
- exploitability: what the opponent that does best against this very policy scores more than perfect
  play would. It sees the mistakes in all positions, also those into which neither learner leads.
"""

from __future__ import annotations

import time
from pathlib import Path

from duels.core.game import AnyGame
from duels.envs.policy import EnvPolicy
from duels.measure import exploitability

COLOURS = {"exploitability": "#e45756", "lost against perfect play": "#4c78a8"}


class Curve:
    """Measures as it goes; `save` draws it."""

    def __init__(self, game: AnyGame, title: str) -> None:
        self.game, self.title = game, title
        self.points: list[tuple[int, float, float]] = []
        self.began, self.measuring = time.perf_counter(), 0.0

    def measure(self, steps: int, policy: EnvPolicy) -> None:
        """Note how good a policy is after so many steps."""
        now = time.perf_counter()
        found = exploitability(self.game, policy)
        losses = [seat.optimal - (seat.value_vs_perfect or 0.0) for seat in found.seats]
        lost, given_away = (
            round(sum(pair) / 2, 12) + 0.0 for pair in (losses, found.exploitability)
        )
        self.points.append((steps, given_away, lost))
        learned = now - self.began - self.measuring
        self.measuring += time.perf_counter() - now
        print(
            f"{steps:>10,} steps {learned:6.1f} s   exploitability {self.points[-1][1]:.5f}   "
            f"lost against perfect play {lost:.5f}",
            flush=True,
        )

    def save(self, path: str) -> None:
        """Draw both figures over the steps, as an SVG picture."""
        wide, high, left, top = 520, 240, 70, 70
        most, last = max(max(point[1:]) for point in self.points), self.points[-1][0] or 1
        text = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + wide + 30}" '
            f'height="{top + high + 50}" font-family="DejaVu Sans,Helvetica,sans-serif" '
            f'font-size="13">\n<rect width="100%" height="100%" fill="#ffffff"/>',
            f'<text x="20" y="26" font-size="16" font-weight="bold">{self.title}</text>',
            f'<path d="M{left},{top} V{top + high} H{left + wide}" fill="none" stroke="#888888"/>',
            f'<text x="{left - 8}" y="{top + 5}" text-anchor="end">{most:.3f}</text>',
            f'<text x="{left - 8}" y="{top + high}" text-anchor="end">0</text>',
            f'<text x="{left + wide}" y="{top + high + 20}" text-anchor="end">{last:,}</text>',
        ]
        for number, (name, colour) in enumerate(COLOURS.items(), 1):
            line = " ".join(
                f"{left + wide * point[0] / last:.1f},{top + high * (1 - point[number] / most):.1f}"
                for point in self.points
            )
            text += [
                f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
                f'<text x="{20 + 180 * (number - 1)}" y="50" fill="{colour}">{name}: '
                f"{self.points[-1][number]:.4f}</text>",
            ]
        Path(path).write_text("\n".join([*text, "</svg>\n"]), encoding="utf-8")
        print(f"drawn: {path}")
