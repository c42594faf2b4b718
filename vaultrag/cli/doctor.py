"""``vaultrag doctor``: what is wrong, and the command that repairs it."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Annotated, Any

import typer

from vaultrag.cli.options import AsJson
from vaultrag.cli.output import draw, remark, write, write_json
from vaultrag.config import Places


def doctor(
    fix: Annotated[
        bool, typer.Option("--fix", help="Repair what can be repaired without harm, and look again.")
    ] = False,
    reporting: Annotated[
        bool, typer.Option("--report", help="Print a text for a bug report: no note, no path, no name is in it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Try everything that vaultrag needs, for real, and say how each is repaired. Works with the daemon or without.

    Exit code 0: all is well, 1: warnings, 2: something does not work.
    """
    from vaultrag.doctor.findings import GRADES, worst
    from vaultrag.doctor.run import examine, fixed

    places = Places.find()
    silent = as_json or reporting
    findings = list(examine(places))
    repaired = fixed(findings) if fix else []
    if repaired:
        for line in repaired:
            remark(line)
        findings = list(examine(places))
    if reporting:
        from vaultrag.doctor.report import names_here, report
        from vaultrag.doctor.run import roots_of

        write(report(findings, names_here(roots_of(places), os.environ)))
    elif as_json:
        write_json({"worst": worst(findings), "findings": [_as_dict(finding) for finding in findings]})
    if not silent:
        from vaultrag.cli.render.findings import finding_lines

        draw(*finding_lines(findings))
    if code := GRADES.index(worst(findings)):
        raise typer.Exit(code)


def _as_dict(finding: Any) -> dict[str, object]:
    table = {field.name: getattr(finding, field.name) for field in fields(finding)}
    return {**table, "fix": finding.fix is not None}
