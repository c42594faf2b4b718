"""A real daemon with a small vault, for the tests of the search screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.daemons import Home, daemon_home

NOTES = {
    "Pumps/Seal replacement.md": (
        "---\ntags: [pump, howto]\naliases: [Changing seals]\n---\n# Seal replacement\n\nDrain the casing first.\n\n"
        + "Nothing of interest stands in this line.\n\n" * 40
        + "## Order\n\nThe mechanical seal comes off before the impeller. See [[Bearings]].\n"
    ),
    "Pumps/Bearings.md": "# Bearings\n\nGrease the pump bearings every quarter. #pump\n",
    "Pumps/Impeller.md": "# Impeller\n\nThe impeller of the pump is bronze.\n",
    "Garden/Tomatoes.md": "# Tomatoes\n\nWater them in the morning. 🍅👩‍🌾 Blight comes with wet leaves. #garden\n",
    "日本語/水道.md": "# 水道\n\n東京都の水道について。ポンプの点検は毎月です。\n",
    "עברית.md": "# משאבה\n\nהמשאבה נבדקת בכל חודש, ו-pump test נרשם.\n",
    **{f"Log/Day {day:02}.md": f"# Day {day:02}\n\nThe turbine ran for {day} hours.\n" for day in range(1, 41)},
}


@pytest.fixture(scope="module")
def served() -> Iterator[Home]:
    """A daemon that has read the notes, for tests that change nothing; meaning search is off."""
    with daemon_home() as home:
        for path, text in NOTES.items():
            home.write(path, text)
        home.start().ready()
        yield home
