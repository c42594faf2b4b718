"""``python -m tests.quality`` compares rankings on every judged set; ``--baseline`` writes the floors of CI anew."""

import sys

from tests.quality.lab.command import main

sys.exit(main())
