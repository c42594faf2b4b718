"""JSON-RPC 2.0 on a local socket, one JSON text a line: the protocol, the table of methods, the server, the client."""
