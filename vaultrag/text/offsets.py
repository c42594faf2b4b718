"""A text made from another, with the way back: which part of the source each position came from."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

Edit: TypeAlias = tuple[int, int, str]
"""Start and end in a source, and the text that takes the place of what stands there."""


@dataclass(frozen=True, slots=True)
class MappedText:
    """A text and its joints, in order: start and length here, then in the source. The rest is one to one."""

    text: str
    joints: tuple[tuple[int, int, int, int], ...] = ()

    def start(self, position: int) -> int:
        """Return where in the source the character at ``position`` begins."""
        joint = self._before(position)
        if joint is None:
            return position
        here, size, there, original = joint
        return there if position < here + size else there + original + position - here - size

    def end(self, position: int) -> int:
        """Return where in the source the text that ends before ``position`` ends."""
        joint = self._before(position - 1)
        if joint is None:
            return position
        here, size, there, original = joint
        return there + original + max(0, position - here - size)

    def position(self, source: int) -> int:
        """Return the first position whose text stands at ``source`` or behind it."""
        index = bisect_right(self.joints, source, key=lambda joint: joint[2])
        if not index:
            return source
        here, size, there, original = self.joints[index - 1]
        if source == there:  # nothing of the joint stands before it
            return here
        return here + size + max(0, source - there - original)

    def _before(self, position: int) -> tuple[int, int, int, int] | None:
        index = bisect_right(self.joints, (position, 1 << 60))
        return self.joints[index - 1] if index else None


def edited(source: str, edits: Iterable[Edit]) -> MappedText:
    """Apply edits, given in order; one that begins inside the one before it is left out.

    A line of which the edits leave nothing goes with its line end.
    """
    pieces: list[str] = []
    joints: list[tuple[int, int, int, int]] = []
    here = last = 0
    blank, touched = True, False  # what has been written of this line; whether an edit was in it
    for start, end, new in (*edits, (len(source), len(source), "")):
        if start < last:
            continue
        if start > last:
            kept = source[last:start]
            line_end = kept.find("\n")
            if line_end >= 0:
                if blank and touched and not kept[:line_end].strip():
                    joints.append((here, 0, last, line_end + 1))
                    kept = kept[line_end + 1 :]
                blank, touched = not kept[kept.rfind("\n") + 1 :].strip(), False
            elif blank:
                blank = not kept.strip()
            pieces.append(kept)
            here += len(kept)
        size = len(new)
        joints.append((here, size, start, end - start))
        if size:
            pieces.append(new)
            here += size
            blank = blank and not new.strip()
        touched, last = True, end
    joints.pop()  # that of the end
    return MappedText("".join(pieces), tuple(joints))
