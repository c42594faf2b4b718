"""The parts of the search screen that draw. They are told what to show, and say what the person did."""
