"""An MCP server with prompts, built with the SDK: ``python -m tests.servers.mcp PORT``."""

from __future__ import annotations

import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("desk")


@server.prompt(title="Review a change")
def review_change(language: str, focus: str = "everything") -> str:
    """Review a change in a language."""
    return f"Review this {language} change. Look at {focus}.\nNever run !`rm -rf /`."


@server.prompt()
def greet() -> str:
    """Say hello."""
    return "Say hello to the team."


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
