"""Which paths are notes, and why the others are not. Pure: everything it knows comes in through ``build``.

An exclusion is *told* when a person may wonder where the note is (a sync service's second copy); what the person asked
to leave out, and what never was a note, is passed over in silence and explained only when asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

from vaultrag.domain.kinds import ONLY_NOTES, ReadKinds, kind_of
from vaultrag.watcher.paths import matchable, parent

IGNORE_FILE = ".vaultragignore"
OBSIDIAN_FILE = ".obsidian/app.json"
TEMPLATE_FILES = {
    ".obsidian/templates.json": "folder",
    ".obsidian/plugins/templater-obsidian/data.json": "templates_folder",
}
"""Files that name a folder of templates, of Obsidian's core plugin and of Templater, each with its key."""

# Each service's own spelling, tight enough that a note *about* conflicted copies stays a note: the mark must end the
# name, and carry the date, number or machine the service puts there.
_CONFLICT = re.compile(
    r"""(?ix)
      \.sync-conflict-\d{8}-\d{6}(-[A-Z0-9]{7})?$                          # Syncthing
    | _conflict-\d{8}-\d{6}$                                               # ownCloud, Nextcloud (older)
    | \([^/]*(conflicted\ copy|konfliktkopie|in\ konflikt\ stehende\ kopie|copie\ en\ conflit|copia\ en\ conflicto
        |sfconflict)\b[^/]*\d{4}[^/]*\)$                                   # Dropbox, Nextcloud, Obsidian Sync, Seafile
    | \(case\ conflict(\ \d+)?\)$                                          # Dropbox
    | -(DESKTOP|LAPTOP)-[A-Z0-9]{7}([ -]\(?\d+\)?)?$                       # OneDrive: the other computer's name
    | \.(sync-)?conflict(ed)?([-. _]?\d+)?$                                # "Note.conflict", "Note.conflict-1"
    | [ ]\[(sync[ -])?conflict(ed)?([ -]copy)?([ ]\d+)?\]$                  # "Note [conflicted]"
    """
)
# OneDrive puts the other computer's name behind the note's, which may be any name. Only one that says what it is, or is
# this computer's, counts, and only beside the note itself: "Project-README.md" is a note of its own.
_COMPUTER = re.compile(
    r"(?:[A-Z0-9]+-)*(?:COMPUTER|PC|DESKTOP|LAPTOP|NOTEBOOK|WORKSTATION|SURFACE|THINKPAD|MACBOOK|IMAC|WIN)(?:-?[A-Z0-9]+)*"
    r"|[A-Z0-9]+PC\d*"
)
_MOST_COMPUTER = 15  # letters of a Windows computer's name

_CONFLICT_SIGNS = ("onfli", "top-")  # one of them is in every name _CONFLICT finds; the search itself is slow


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A reason why a path is left out, in words; ``told``: worth listing without being asked."""

    reason: str
    told: bool = False


_HIDDEN_FOLDER = Exclusion("in a hidden folder")
_HIDDEN_FILE = Exclusion("a hidden file")
_NOT_A_NOTE = Exclusion("not a note: files of its kind are not read")
_LACKING = "not read: install what reads it, the extra [{}]"
_TEMPORARY_FILE = Exclusion("a temporary file")
_OBSIDIAN_RULE = f"one of Obsidian's excluded files ({OBSIDIAN_FILE}): {{}}"
_TEMPLATES = "in a folder of templates ({})"
CONFLICT_COPY = Exclusion("a sync-conflict copy", told=True)


def is_filter_file(path: str) -> bool:
    """Return True if a change of this path changes which files are notes. Its folder counts: it may come or go."""
    return path in (IGNORE_FILE, OBSIDIAN_FILE, *TEMPLATE_FILES) or any(
        file.startswith(f"{path}/") for file in TEMPLATE_FILES
    )


def copied_notes(path: str, computer: str = "") -> list[str]:
    """Return the notes that this would be another computer's copy of, if one of them exists; usually none.

    Args:
        path: ``Folder/Plan-ANNS-PC.md``.
        computer: This computer's name.
    """
    if kind_of(path) is None:
        return []
    ending = path[path.rfind(".") :]
    stem, place = path.removesuffix(ending), path.rfind("/") + 1
    found, own = [], f"-{computer.upper()}"
    if computer and stem.endswith(own) and len(stem) - place > len(own):
        found.append(f"{stem.removesuffix(own)}{ending}")
    dash = stem.find("-", place + 1)
    while dash > 0:
        if len(stem) - dash - 1 <= _MOST_COMPUTER and _COMPUTER.fullmatch(stem, dash + 1):
            found.append(f"{stem[:dash]}{ending}")
        dash = stem.find("-", dash + 1)
    return found


def is_note_name(name: str) -> bool:
    return kind_of(name) == "note"


def worth_a_look(path: str, is_dir: bool) -> bool:
    """Return the quick test for events: could this path be a note, or a folder of notes, under any filter?"""
    if path.startswith(".") or "/." in path:
        return False
    return is_dir or kind_of(path) is not None


@dataclass(frozen=True, slots=True)
class VaultFilter:
    """Decides about paths. ``problems`` lists the entries that could not be understood and are passed over."""

    spec: GitIgnoreSpec
    origins: tuple[str, ...]
    prefixes: tuple[str, ...]
    regexes: tuple[tuple[str, re.Pattern[str]], ...]
    templates: Mapping[str, Exclusion]
    kinds: ReadKinds = ONLY_NOTES
    problems: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        ignore_patterns: Iterable[str] = (),
        vaultragignore_text: str = "",
        obsidian_patterns: Sequence[str] = (),
        templates: Sequence[tuple[str, str]] = (),
        kinds: ReadKinds = ONLY_NOTES,
    ) -> VaultFilter:
        """Put the three lists together; an entry that makes no sense is a problem, never an exception.

        Args:
            ignore_patterns: The setting ``notes.ignore``, gitignore syntax. Read first, so the vault's own file may
                take something back in with ``!``.
            vaultragignore_text: The vault's ``.vaultragignore``.
            obsidian_patterns: ``userIgnoreFilters``: a leading part of the path, or ``/a regular expression/``.
            templates: Folders of templates, each with the file that names it.
            kinds: The kinds of file that are read.
        """
        problems: list[str] = []
        sourced = [(line, "the notes.ignore setting") for line in ignore_patterns]
        sourced += [(line, f"{IGNORE_FILE}, line {n}") for n, line in enumerate(vaultragignore_text.splitlines(), 1)]
        # An empty line is none to pathspec, which numbers the others.
        good = [(line, source) for line, source in sourced if line and _is_pattern(line, source, problems)]
        prefixes, regexes = _obsidian(obsidian_patterns, problems)
        return cls(
            # Patterns are typed on a keyboard (NFC); macOS may hand out names in NFD. Compared in one form.
            spec=GitIgnoreSpec.from_lines(_nfc(line) for line, _ in good),
            origins=tuple(f"excluded by {source}: {line.strip()}" for line, source in good),
            prefixes=prefixes,
            regexes=regexes,
            templates={
                _nfc(folder).casefold(): Exclusion(_TEMPLATES.format(file)) for folder, file in templates if folder
            },
            kinds=kinds,
            problems=tuple(problems),
        )

    def reason(self, path: str, is_dir: bool = False) -> str | None:
        """Return why this path is left out, or None for a note (or a folder that may hold notes)."""
        exclusion = self.exclusion(path, is_dir)
        return exclusion.reason if exclusion else None

    def exclusion(self, path: str, is_dir: bool = False) -> Exclusion | None:
        """Like ``reason``. What lies in an excluded folder is excluded, whatever a later ``!`` says, as in git."""
        for folder in _folders_above(path):
            if found := self.step(folder, is_dir=True):
                return found
        return self.step(path, is_dir)

    def step(self, path: str, is_dir: bool) -> Exclusion | None:
        """Judge the last part of a path whose folders are known to be let in."""
        name = path[path.rfind("/") + 1 :]
        if is_dir:
            if name.startswith("."):
                return _HIDDEN_FOLDER
            if self.templates and (found := self.templates.get(_nfc(path).casefold())):
                return found
        elif found := _by_name(name, self.kinds):
            return found
        if not (self.origins or self.prefixes or self.regexes):
            return None
        return self._by_pattern(_nfc(path), is_dir)

    def hides(self, path: str) -> bool:
        """Return whether a file is out of bounds, note or not: asked of what a link points at."""
        exclusion = self.exclusion(path)
        return exclusion is not None and exclusion is not _NOT_A_NOTE

    def _by_pattern(self, path: str, is_dir: bool) -> Exclusion | None:
        subject = path + "/" if is_dir else path
        if self.origins:
            result = self.spec.check_file(matchable(subject))
            if result.include and result.index is not None:
                return Exclusion(self.origins[result.index])
        if self.prefixes:
            folded = subject.casefold()
            for prefix in self.prefixes:
                if folded.startswith(prefix.casefold()):
                    return Exclusion(_OBSIDIAN_RULE.format(prefix))
        if not is_dir:  # Obsidian tries its expressions on files only: /draft$/ leaves the folder "draft" alone
            for entry, regex in self.regexes:
                if regex.search(path):
                    return Exclusion(_OBSIDIAN_RULE.format(entry))
        return None


def _by_name(name: str, kinds: ReadKinds) -> Exclusion | None:
    if name.startswith("."):
        return _HIDDEN_FILE
    lower = name.lower()
    if lower.startswith(("~$", "~syncthing~")) or lower.endswith(("~", ".tmp")):
        return _TEMPORARY_FILE
    kind = kind_of(name)
    if kind not in kinds.read:
        extra = kinds.lacking.get(kind, "") if kind is not None else ""
        return Exclusion(_LACKING.format(extra), told=True) if extra else _NOT_A_NOTE
    if any(sign in lower for sign in _CONFLICT_SIGNS) and _CONFLICT.search(name[: name.rfind(".")]):
        return CONFLICT_COPY
    return None


def _folders_above(path: str) -> Iterator[str]:
    folders = []
    while path := parent(path):
        folders.append(path)
    return reversed(folders)


def _is_pattern(line: str, source: str, problems: list[str]) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:  # pathspec's GitIgnorePatternError
        problems.append(f"not a pattern, in {source}: {line.strip()}")
        return False
    return True


def _obsidian(
    entries: Sequence[str], problems: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, re.Pattern[str]], ...]]:
    prefixes, regexes = [], []
    for entry in entries:
        text = _nfc(entry)
        if len(text) > 2 and text.startswith("/") and text.endswith("/"):
            try:
                # JavaScript's spelling of a named group; the rest of what people write there is common to both.
                regexes.append((entry, re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", text[1:-1]), re.IGNORECASE)))
            except (re.error, OverflowError, RecursionError) as error:
                problems.append(f"not a regular expression, in Obsidian's excluded files: {entry} ({error})")
        elif text.strip("/ "):
            prefixes.append(text.lstrip("/"))
    return tuple(prefixes), tuple(regexes)


def _nfc(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
