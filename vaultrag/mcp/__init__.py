"""The vault for agents: ``vaultrag mcp``, a thin client of the daemon that speaks MCP on stdin and stdout.

It says to the daemon that it is an agent's, so what may be read is decided there. Importing this room loads no SDK.
"""
