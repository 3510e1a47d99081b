"""Game-theoretic algorithms: values of positions and moves, best responses, beliefs, tables.

Values are Player 1's expected score, from 0 to 1, a draw counting half.

>>> from duels.algorithms import solve
>>> from duels.games import load
>>> game = load("firewall-breach")
>>> solve(game).value(game.start())
Fraction(277, 486)
"""

from duels.algorithms.solution import Assessment, Solution, Unsolved, Value
from duels.algorithms.solutions import solve

__all__ = ["Assessment", "Solution", "Unsolved", "Value", "solve"]
