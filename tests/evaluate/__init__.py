"""The figures themselves: formulas, judged sets on disk, the run."""
