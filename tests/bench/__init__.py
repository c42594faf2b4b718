"""Speed and size on this machine, measured and printed: `make bench`, or `python -m tests.bench`. See README.md."""
