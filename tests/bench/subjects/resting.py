"""What a daemon costs that has nothing to do."""

from __future__ import annotations

import time

from tests.bench.machine import private_mb
from tests.bench.queries import PLAIN_KINDS, some
from tests.bench.stage import Stage, subject
from tests.bench.subjects.indexing import SETTLING_S


@subject("rest")
def rest(stage: Stage) -> None:
    """Processor and private memory at rest: after a start, and after some searches."""
    with stage.serving() as served:
        time.sleep(SETTLING_S)
        after_start = private_mb(served.pid)
        for kind in PLAIN_KINDS:
            for one in some(kind, stage.notes, stage.rounds // 2, seed=5):
                served.client.search(one.text, limit=10)
        time.sleep(SETTLING_S)
        after_search = private_mb(served.pid)
        cpu, begun = served.cpu_s(), time.monotonic()
        time.sleep(stage.idle_s)
        idle = 100 * (served.cpu_s() - cpu) / (time.monotonic() - begun)
    if after_start is None or after_search is None:
        stage.cannot("private memory and CPU at rest", "this system does not tell them; Linux does")
        return
    stage.row("CPU at rest", idle, "% of a core", bound=0.1, bound_is="the aim", grows=False,
              note=f"over {stage.idle_s:.0f} s")  # fmt: skip
    for name, value in (("a start", after_start), ("searches", after_search)):
        stage.row(f"private memory at rest after {name}, no model loaded", value, "MB", bound=stage.vectors_mb,
                  bound_is="one int8 vector a note")  # fmt: skip
