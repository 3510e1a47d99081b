"""What a match and a position were worth: graded moves, luck and skill, as text, JSON and pages."""
