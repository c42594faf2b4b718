"""Judged queries on the sample vault, and the figures that may not fall."""
