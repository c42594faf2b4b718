"""What was read of an index, kept as long as the index stays as it is.

While a query is typed its first words are asked for again and again, and a vault's common words come back in every
other query.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


Renewing = Callable[[Key, Value, int, int], "tuple[Value] | None"]
"""Makes what was kept of an earlier generation into what it is in a later one; None where that cannot be done."""


class GenerationCache(Generic[Key, Value]):
    """Values by key, of one generation of the index (``NoteIndex.snapshot``); the longest unused go when room is short.

    Callable from any thread; two that want the same at once may both read it.
    """

    def __init__(
        self,
        room: int,
        size: Callable[[Value], int] = lambda value: 1,
        renewing: Renewing[Key, Value] | None = None,
    ) -> None:
        """Make an empty cache.

        Args:
            room: Sizes of what is kept, in sum.
            size: Of one value; what takes more than a quarter of the room is not kept.
            renewing: See there; without it, nothing is kept beyond its generation.
        """
        self._room = room
        self._size = size
        self._renewing = renewing
        self._values: OrderedDict[Key, tuple[int, Value]] = OrderedDict()
        self._taken = 0
        self._generation = -1
        self._lock = threading.Lock()

    def get(self, generation: int | None, key: Key, read: Callable[[], Value]) -> Value:
        """Return the value of this key, read now if it is not known; of no known generation, it is not kept either."""
        if generation is None:
            return read()
        if (known := self.find(generation, key)) is not None:
            return known[0]
        value = read()
        self.keep(generation, key, value)
        return value

    def find(self, generation: int, key: Key) -> tuple[Value] | None:
        """Return the value of this key if it is known, or can be made of what was known."""
        with self._lock:
            if generation > self._generation:
                self._generation = generation
                if self._renewing is None:
                    self._values.clear()
                    self._taken = 0
            known = self._values.get(key)
            if known is None:
                return None
            of, value = known
            if of == generation:
                self._values.move_to_end(key)
                return (value,)
        if self._renewing is None or of > generation:
            return None
        renewed = self._renewing(key, value, of, generation)
        if renewed is not None:
            self.keep(generation, key, renewed[0])
        return renewed

    def keep(self, generation: int, key: Key, value: Value) -> None:
        """Keep a value that was read in a snapshot of this generation, if that is still the newest."""
        size = self._size(value)
        with self._lock:
            if generation != self._generation or size > self._room // 4:
                return
            if key in self._values:
                self._taken -= self._size(self._values.pop(key)[1])
            self._values[key] = (generation, value)
            self._taken += size
            while self._taken > self._room:
                self._taken -= self._size(self._values.popitem(last=False)[1][1])
