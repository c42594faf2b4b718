"""What every client of the daemon shares: reach or start it, choose a vault, name stages, print hits as lines."""
