"""Judged queries through the real pipeline, to figures: how good the search is, and whether a change made it better."""
