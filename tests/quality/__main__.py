"""``python -m tests.quality`` measures the sample vault and writes the baseline anew."""

import json
import tempfile
from pathlib import Path

from tests.quality.baseline import BASELINE, figures

with tempfile.TemporaryDirectory() as home:
    measured = figures(Path(home))
for unstable in ("ms", "embedded_for_this_run", "version"):
    measured.pop(unstable)
measured["abstention"].pop("auroc_by_kind")
BASELINE.write_text(json.dumps(measured, indent=1, sort_keys=True) + "\n", "utf-8")
print(json.dumps({"all": measured["all"], "abstention": measured["abstention"]}, indent=1))
