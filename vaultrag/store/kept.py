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


class Kept(Generic[Key, Value]):
    """Values by key, of one generation of the index (``NoteIndex.snapshot``); the longest unused go when room is short.

    Callable from any thread; two that want the same at once may both read it.
    """

    def __init__(self, room: int, size: Callable[[Value], int] = lambda value: 1) -> None:
        """Args:
        room: Sizes of what is kept, in sum.
        size: Of one value; what takes more than a quarter of the room is not kept.
        """
        self._room = room
        self._size = size
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._taken = 0
        self._generation = -1
        self._lock = threading.Lock()

    def get(self, generation: int | None, key: Key, read: Callable[[], Value]) -> Value:
        """The value of this key, read now if it is not known; of no known generation, it is not kept either."""
        if generation is None:
            return read()
        with self._lock:
            if generation > self._generation:
                self._values.clear()
                self._generation, self._taken = generation, 0
            elif generation == self._generation and key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = read()
        size = self._size(value)
        with self._lock:
            if generation == self._generation and key not in self._values and size <= self._room // 4:
                self._values[key] = value
                self._taken += size
                while self._taken > self._room:
                    self._taken -= self._size(self._values.popitem(last=False)[1])
        return value

    def has(self, generation: int | None, key: Key) -> bool:
        """Whether the value of this key is known."""
        with self._lock:
            return generation == self._generation and key in self._values
