"""Opening the search screen, and printing what was chosen on it."""

from __future__ import annotations

import gc
import os
import sys

from vaultrag.errors import UsageError
from vaultrag.tui.driver import can_draw, take_keys
from vaultrag.tui.launch_options import Errand, Outcome


def run(errand: Errand) -> Outcome:
    """Show the screen until it is left.

    Raises:
        UsageError: There is no terminal to show it on.
        ConfigError: The keys cannot be as the settings have them.
    """
    if why := can_draw(os.environ):
        raise UsageError(why, hint="vaultrag search QUERY")
    if not take_keys():
        raise UsageError("there is no terminal to take keys from", hint="vaultrag search QUERY")
    gc.disable()  # a third of the start would go into looking for rubbish that is not there yet
    from vaultrag.tui.actions import ACTIONS
    from vaultrag.tui.app import SearchApp

    app = SearchApp(errand, ACTIONS)
    app.call_later(gc.enable)
    left = app.run()
    if left is not None:
        return left
    # Textual has shown why; there is no answer to print.
    sys.stderr.flush()
    return Outcome(app.return_code or 2)
