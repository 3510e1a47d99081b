"""Duels in other tools: an MCP server, training environments and evaluations of language models."""
