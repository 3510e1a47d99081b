"""Analysis of matches and positions: graded moves, luck and skill, as text, JSON and HTML."""

from duels.analysis.grade import Analysis, Graded, grade
from duels.analysis.report import summary

__all__ = ["Analysis", "Graded", "grade", "summary"]
