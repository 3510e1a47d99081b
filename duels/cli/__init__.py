"""The terminal: every command, and play at one keyboard or through a pipe. Names no game."""
