"""An application for the command lines of other ASGI servers: `tests.server.asgi_app:app`."""

from __future__ import annotations

import os
from dataclasses import replace

from duels.server.app import make_app, make_room_manager
from tests.server.server import QUICK

app = make_app(make_room_manager(replace(QUICK, database=os.environ["DUELS_TEST_DATABASE"])))
