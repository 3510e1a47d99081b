"""What a match and a position were worth: graded moves, luck and skill, as text, JSON and pages."""

from duels.analysis.grade import Analysis, Graded, grade
from duels.analysis.report import summary

__all__ = ["Analysis", "Graded", "grade", "summary"]
