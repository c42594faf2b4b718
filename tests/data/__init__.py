"""Index files of earlier versions, and how they are made and laid into a home. See README.md beside this."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from tests.support.daemons import Home
from vaultrag.config import vault_id
from vaultrag.storage.folder import NOTES_FILE, VECTORS_FILE

HERE = Path(__file__).parent
FILES = (NOTES_FILE, VECTORS_FILE)

NOTES = {
    "Pumps/Seal replacement.md": "---\ntags: [pump, howto]\naliases: [Changing seals]\n---\n# Seal replacement\n\n"
    "Drain the casing first.\n\n## Order\n\nThe mechanical seal comes off before the impeller. See [[Bearings]].\n",
    "Pumps/Bearings.md": "# Bearings\n\nGrease the bearings every quarter, never while the pump is warm.\n",
    "Garden/Tomatoes.md": "# Tomatoes\n\nWater them in the morning. 🍅 Blight comes with wet leaves.\n",
    "Garden/Café plan.md": '---\nsuperseded_by: "[[Tomatoes]]"\nstatus: done\n---\nLes semis de l’année dernière.\n',
    "水道.md": "# 水道\n\n東京都の水道について。水泵の点検は四月。\n",
    "Empty.md": "",
}
"""The vault that the files are of."""


def earlier() -> list[str]:
    """The names of what is kept, oldest first."""
    return sorted(path.name for path in HERE.iterdir() if (path / f"{NOTES_FILE}.gz").exists())


def unpack(name: str, folder: Path) -> None:
    """Lay the files of an earlier version into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        with gzip.open(HERE / name / f"{file}.gz") as packed, (folder / file).open("wb") as plain:
            shutil.copyfileobj(packed, plain)


def index_folder(home: Home) -> Path:
    """Where the home's daemon has its files of the vault."""
    return home.places.vault_folder(vault_id(home.vault))


def fill(home: Home) -> None:
    for path, text in NOTES.items():
        home.write(path, text)
