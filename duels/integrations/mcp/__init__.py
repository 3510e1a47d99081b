"""`duels mcp`: the games as tools of the Model Context Protocol.

tools       the MCP server: tools and resources
results     what tools return, made from the view of one seat
matches     matches in a file of this machine, against built-in players
remote      matches on a server
"""
