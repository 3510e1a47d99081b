"""Perfect play: the value of every position, and what each move is worth.

Values are Player 1's expected score, from 0 to 1, a draw counting half.

>>> from duels.games import load
>>> from duels.solve import solve
>>> game = load("firewall-breach")
>>> solve(game).value(game.start())
Fraction(277, 486)
"""

from duels.solve.catalogue import solve
from duels.solve.solution import Assessment, Solution, Unsolved, Value

__all__ = ["Assessment", "Solution", "Unsolved", "Value", "solve"]
