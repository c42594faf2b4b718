"""The vectors of the last queries. People type, go back and ask again; the model need not."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vaultrag.domain import Vector


class QueryCache:
    """Least recently used goes first. Any thread may call; the vectors handed out are read-only."""

    def __init__(self, size: int = 256) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    def get(self, text: str) -> Vector | None:
        with self._lock:
            vector = self._vectors.get(text)
            if vector is not None:
                self._vectors.move_to_end(text)
            return vector

    def put(self, text: str, vector: Vector) -> Vector:
        vector.setflags(write=False)
        with self._lock:
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
            while len(self._vectors) > self._size:
                self._vectors.popitem(last=False)
        return vector
