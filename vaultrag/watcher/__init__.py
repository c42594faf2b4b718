"""The vault's folder as the disk shows it: what is a note, what it holds, when to look again.

Reads only. An event is a hint to look, never the truth: the truth is what ``DiskReader`` finds when it looks.
"""

from vaultrag.watcher.debounce import Debouncer
from vaultrag.watcher.filters import Exclusion, VaultFilter, is_filter_file
from vaultrag.watcher.observer import VaultWatcher
from vaultrag.watcher.reader import DiskReader

__all__ = ["Debouncer", "DiskReader", "Exclusion", "VaultFilter", "VaultWatcher", "is_filter_file"]
