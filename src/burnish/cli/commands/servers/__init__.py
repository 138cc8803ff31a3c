"""Commands that serve others until they are stopped: the HTTP API, workers, the MCP server."""
