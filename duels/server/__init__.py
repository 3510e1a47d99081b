"""The server and the browser client: `duels serve`. Behind the extra `web`.

One authoritative `Match` per room; what each viewer is told is the core's wire JSON in an envelope
(docs/protocol.md). No game is named here.
"""
