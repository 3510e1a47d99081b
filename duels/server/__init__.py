"""The server and the browser client: `duels serve`. Behind the extra `web`.

Each room has one authoritative `Match`. Clients receive the wire JSON of the core in messages of
the server protocol (docs/reference/protocol.md). No game is named here.
"""
