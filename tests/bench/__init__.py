"""Speed and size on this machine, measured and printed, never asserted: `make bench`, or `python -m tests.bench`."""
