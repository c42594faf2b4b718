"""The laboratory: every judged set, ranked again in seconds from cached features, and what a change is worth."""
