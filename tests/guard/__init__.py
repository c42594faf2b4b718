"""What must not be seen is not seen, and what must not get in does not: privacy, paths, peers, floods."""
