"""Names of periodic notes, read by the format that they were written with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultrag.markdown.moment_format import moment_format


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("YYYY-MM-DD", "2025-03-12", "2025-03-12"),
        ("YYYY/MM/YYYY-MM-DD", "2025/03/2025-03-12", "2025-03-12"),
        ("YYYY/MM-MMMM/YYYY-MM-DD-dddd", "2025/03-March/2025-03-12-Wednesday", "2025-03-12"),
        ("YYYY/MM/DD", "2025/03/12", "2025-03-12"),
        ("DD.MM.YYYY", "12.03.2025", "2025-03-12"),
        ("dddd, MMMM Do YYYY", "Wednesday, March 12th 2025", "2025-03-12"),
        ("YYYYMMDD", "20250312", "2025-03-12"),
        ("YYYY-DDDD", "2025-071", "2025-03-12"),
        ("[Journal] D MMM YY", "Journal 12 Mar 25", "2025-03-12"),
        ("D. MMMM YYYY", "12. März 2025", "2025-03-12"),
        ("YYYY年M月D日", "2025年3月12日", "2025-03-12"),
        ("YYYY MMMM D", "2025 三月 12", "2025-03-12"),
        ("GGGG-[W]WW-E", "2025-W11-3", "2025-03-12"),
        ("YYYY-MM-DD_HHmm", "2025-03-12_0915", "2025-03-12"),
        ("gggg-[W]ww", "2025-W11", "2025-03-10 to 2025-03-16"),
        ("YYYY/[W]WW", "2025/W11", "2025-03-10 to 2025-03-16"),
        ("YYYY-MM", "2025-03", "2025-03-01 to 2025-03-31"),
        ("YYYY-[Q]Q", "2025-Q1", "2025-01-01 to 2025-03-31"),
        ("YYYY", "2025", "2025-01-01 to 2025-12-31"),
    ],
)
def test_a_name_is_read(text: str, name: str, expected: str) -> None:
    """Each format reads the names that Obsidian makes with it, in folders too."""
    compiled = moment_format(text)
    assert compiled is not None
    assert str(compiled.read(name)) == expected


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("YYYY-MM-DD", "2025-13-12"),
        ("YYYY-MM-DD", "2025-02-30"),
        ("YYYY-MM-DD", "2025-03-12 notes"),
        ("YYYY/MM/YYYY-MM-DD", "2025/04/2025-03-12"),
        ("YYYY MMMM", "2025 Marble"),
        ("GGGG-[W]WW", "2025-W60"),
        ("YYYY-[Q]Q", "2025-Q5"),
    ],
)
def test_what_is_no_such_date_is_none(text: str, name: str) -> None:
    """A name of another form, a day that no calendar has, or parts that contradict each other give no date."""
    compiled = moment_format(text)
    assert compiled is not None
    assert compiled.read(name) is None


@pytest.mark.parametrize("text", ["", "MM-DD", "[YYYY]", "LL", "X", "Y" * 300])
def test_a_format_without_a_year_reads_nothing(text: str) -> None:
    """A format that leaves the year open, or that is not known here, is passed over."""
    assert moment_format(text) is None


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text(text: str, name: str) -> None:
    """No format and no name raises."""
    compiled = moment_format(text)
    if compiled is not None:
        compiled.read(name)
