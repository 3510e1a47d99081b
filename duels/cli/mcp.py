"""`duels mcp`: the games as tools for language models."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from duels.cli.files import checked_path
from duels.cli.terminal import Terminal
from duels.core.errors import OptionError
from duels.core.extras import need
from duels.core.folders import data_folder

FILE = "mcp.sqlite"


def mcp(terminal: Terminal, given: Namespace) -> int:
    need("mcp.server.mcpserver", extra="mcp")
    if given.server and given.database:
        raise OptionError("matches of --server are stored there; leave out --database")
    from duels.integrations.mcp.matches import LocalMatches, Matches
    from duels.integrations.mcp.tools import serve_http, serve_stdio

    matches: Matches
    if given.server:
        need("websockets", extra="web")
        from duels.integrations.mcp.remote import RemoteMatches

        matches = RemoteMatches(given.server)
    else:
        path = checked_path(given.database) if given.database else None
        matches = LocalMatches(Path(path or os.path.join(data_folder(), FILE)))
    if given.http:
        serve_http(matches, given.host, given.port, lambda url: terminal.note(f"MCP server: {url}"))
    else:
        serve_stdio(matches)
    return 0
