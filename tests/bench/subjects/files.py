"""Files of other kinds: how fast they become text, by the layer of text in them and by their pixels."""

from __future__ import annotations

import time
from pathlib import Path

from tests.bench.stage import Stage, subject
from tests.support import documents
from vaultrag.domain.kinds import Kind
from vaultrag.sources import SourceProcess

PAGES = 40
_SENTENCE = "The pump of the second well was taken apart, cleaned and put together again by two people in a morning. "


@subject("files", once=True)
def reading_files(stage: Stage) -> None:
    """A PDF of forty full pages, and scanned pages at 200 dpi: milliseconds a page, and the memory of the process."""
    page = [_SENTENCE * 4] * 8
    text = documents.pdf(*[page] * PAGES)
    _measure(stage, "a page of a PDF with a text layer", "pdf", text, PAGES, recognise=False)
    scan = documents.scan(*[[_SENTENCE[:60]] * 30] * 2)
    _measure(stage, "a scanned page of thirty lines (OCR)", "pdf", scan, 2, recognise=True)


def _measure(stage: Stage, name: str, kind: Kind, data: bytes, pages: int, *, recognise: bool) -> None:
    process = SourceProcess(stage.vault.parent, recognise=recognise)
    try:
        process.convert("pdf", documents.pdf("warm"))
        times = []
        for _ in range(3):
            begun = time.perf_counter()
            answer = process.convert(kind, data, pages)
            times.append(1000 * (time.perf_counter() - begun) / pages)
            assert not answer.problem, answer.problem
        note = f"most memory of the process {_peak_mb(process.pid):,.0f} MB"
        stage.row(name, times, "ms", notes=0, grows=False, note=note)
    finally:
        process.close()


def _peak_mb(pid: int) -> float:
    """Return the most memory that a process has held, as Linux tells; 0 elsewhere."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("ascii", "replace").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)
