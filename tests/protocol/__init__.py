"""The golden conversations: recorded from the daemon, replayed against it, and by each client's own tests."""
