"""The doctor's findings, drawn: a line each, and below it what repairs it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from vaultrag.doctor.findings import Finding
from vaultrag.wording import count, one_line

_COLOURS = {"ok": "green", "warning": "yellow", "fault": "red"}


def finding_lines(findings: Sequence[Finding]) -> Iterator[Text]:
    for finding in findings:
        line = Text(no_wrap=True, overflow="ignore").append(f"{finding.grade:<8}", style=_COLOURS[finding.grade])
        yield line.append(f"{finding.check}: ", style="bold").append(one_line(finding.text), style="default")
        if finding.repair and finding.grade != "ok":
            yield Text(f"        try: {one_line(finding.repair)}", style="dim", no_wrap=True, overflow="ignore")
    faults = sum(finding.grade == "fault" for finding in findings)
    warnings = sum(finding.grade == "warning" for finding in findings)
    if fixable := sum(finding.fix is not None for finding in findings):
        yield Text(f"\n{count(fixable, 'line')} can be repaired at once: vaultrag doctor --fix")
    if faults or warnings:
        yield Text(f"\n{count(faults, 'fault')}, {count(warnings, 'warning')}")
    else:
        yield Text("\nall is well")
