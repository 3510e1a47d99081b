"""The terminal: every command, and play at one keyboard or through a pipe. Names no game."""

import gc

# The usual 700 makes Python look for garbage sixteen times before the first prompt, a tenth of the
# time to it, and there is none.
gc.set_threshold(50_000, 10, 10)
