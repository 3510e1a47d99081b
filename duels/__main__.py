"""`python3 -m duels`."""

import sys

from duels.cli.main import main

sys.exit(main())
