"""The terminal: every command, and play at one keyboard or through a pipe. Names no game."""

import gc

# With the default threshold of 700, garbage is collected sixteen times before the first prompt,
# which takes a tenth of the start-up time and finds nothing.
gc.set_threshold(50_000, 10, 10)
