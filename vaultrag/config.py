"""Settings and places. One TOML file, read in one place; every setting has a default, so the file may be absent.

``parse`` is pure: a mapping in, ``Settings`` out, or a ``ConfigError`` that names the key. ``load`` reads the file.
``Places`` says where things lie: the platform's own folders, or everything under ``VAULTRAG_HOME`` where that is set
(tests, sandboxes, a second daemon of one's own).
"""

from __future__ import annotations

import difflib
import hashlib
import os
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import platformdirs

from vaultrag.domain.kinds import KINDS, Kind
from vaultrag.errors import ConfigError, VaultUnsuitable
from vaultrag.home import data_folder, discovery_file, own_home

SOCKET_PATH_LIMIT = 103
"""Bytes of a Unix socket's path that every system takes (sun_path: 104 with its NUL on macOS, 108 on Linux)."""


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """The model that turns text into vectors."""

    provider: Literal["auto", "ollama", "builtin", "off"] = "auto"
    """auto: Ollama where it answers and has the model, else builtin; off: keyword search only."""
    model: str = "nomic-embed-text"
    """The Ollama model."""
    host: str = "http://127.0.0.1:11434"
    """Where Ollama answers. Another machine's address sends your notes there."""
    timeout_s: float = 60.0
    """How long one request to Ollama may take."""
    document_prefix: str | None = None
    """Put in front of each note; unset: what the model was trained with."""
    query_prefix: str | None = None
    """Put in front of each query; unset: what the model was trained with."""
    keep_alive: str = "30m"
    """How long Ollama keeps the model loaded after a request."""
    builtin: Literal["auto", "english", "multilingual"] = "auto"
    """english: only the builtin model for English, which saves 125 MB while the other is loaded; else both."""
    idle_unload_s: float = 300.0
    """The builtin model leaves memory after so many seconds without work."""


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """The watching of the folder."""

    debounce_ms: int = 1500
    """A changed note is read when it has been quiet for so long."""
    storm_ms: int = 10_000
    """A note that never is quiet is read at least this often."""
    reconcile_s: float = 300.0
    """The whole vault is compared with the index this often; no event is trusted to be the last word."""
    method: Literal["auto", "native", "poll"] = "auto"
    """auto: the system's own events, polling where they run out."""
    poll_s: float = 10.0
    """The pause between two looks when polling."""


@dataclass(frozen=True, slots=True)
class NoteSettings:
    """The files that are notes."""

    max_bytes: int = 10_000_000
    """Larger files are listed as skipped, not read."""
    ignore: tuple[str, ...] = ()
    """Patterns in gitignore syntax, beside the vault's own .vaultragignore and Obsidian's excluded files."""
    obsidian_excluded: bool = True
    """Leave out what Obsidian's own list of excluded files names."""
    obsidian_templates: bool = True
    """Leave out the folders of templates that are set in Obsidian and in the plugin Templater."""


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """The other kinds of file that are read, each as a note of its own."""

    kinds: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind != "note")
    """Those of this list are read; an empty list leaves all out."""
    max_bytes: int = 50_000_000
    """Larger files are listed as skipped, not read. Text files are bounded as notes are."""
    timeout_s: float = 60.0
    """What one file may take; then it is listed with the reason and passed by."""


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """The form of an answer. The defaults are those of the evaluation table."""

    limit: int = 10
    """Hits when the caller does not say."""
    deadline_s: float = 2.0
    """An answer waits no longer for the model; then it holds what words have found, and says so. 0: no bound. A client
    that shows the words' part at once, as the search screen and the plugins do, waits for the rest."""
    passages: bool = True
    """Keep and search the passages' own vectors."""


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The socket."""

    transport: Literal["auto", "unix", "tcp"] = "auto"
    """auto: a Unix socket where Python has them, else loopback TCP with a token file."""
    max_message_bytes: int = 4_000_000
    """A longer line ends the connection that sent it."""
    max_connections: int = 256
    """Further clients are told to come back later."""


@dataclass(frozen=True, slots=True)
class PrivacySettings:
    """Notes hidden from agents, beside those whose properties say "private: true". A person's clients see all."""

    paths: tuple[str, ...] = ()
    """Patterns in gitignore syntax, letter case aside: ["Diary/", "*.secret.md"]."""
    tags: tuple[str, ...] = ()
    """Notes with one of these tags, or one below it: ["personal", "client/confidential"]."""
    mask_secrets: bool = True
    """Mask what looks like a key or a token in what agents get to read."""


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """Notes that a model is always given, whole, beside those whose properties say "always: true"."""

    tags: tuple[str, ...] = ()
    """Notes with one of these tags, or one below it: ["rule"]."""
    folders: tuple[str, ...] = ()
    """Notes in one of these folders of the vault, or below it: ["Rules"]."""
    max_tokens: int = 8000
    """What all rules may cost together, about; more is an error that names them. 0: no bound."""


@dataclass(frozen=True, slots=True)
class DateSettings:
    """The properties that hold a note's own dates, inline ones too; the first that is a date counts."""

    created: tuple[str, ...] = ("created", "created_at", "date_created", "creation_date", "created_time")
    """When the note was made."""
    updated: tuple[str, ...] = ("updated", "modified", "updated_at", "last_modified", "date_modified", "lastmod")
    """When it was last changed."""
    about: tuple[str, ...] = ("date", "published", "day")
    """The day it is about, such as that of a meeting."""


@dataclass(frozen=True, slots=True)
class KeySettings:
    """The search screen's keys: each a list such as ["ctrl+o", "f5"]; an empty list takes the key away."""

    open: tuple[str, ...] = ("enter",)
    """Open the note in your editor; with --print: print it and leave."""
    mark: tuple[str, ...] = ("tab",)
    """Mark the note, to open or print several at once."""
    obsidian: tuple[str, ...] = ("ctrl+o",)
    """Open the note in Obsidian."""
    link: tuple[str, ...] = ("alt+enter", "ctrl+l")
    """Copy a link to the note; with --print: print it and leave."""
    mode: tuple[str, ...] = ("ctrl+s",)
    """Search by words and meaning, by words, by meaning."""
    related: tuple[str, ...] = ("ctrl+r",)
    """Show the notes that are related to this one."""
    explain: tuple[str, ...] = ("ctrl+x",)
    """Show why the note stands where it stands."""
    preview: tuple[str, ...] = ("f2", "ctrl+slash", "ctrl+underscore")
    """Show or hide the preview; for Ctrl+/ many terminals send ctrl+underscore."""
    tags: tuple[str, ...] = ("ctrl+t",)
    """Pick a tag to search in."""
    vault: tuple[str, ...] = ("ctrl+g",)
    """Pick the vault, where several are served."""
    earlier: tuple[str, ...] = ("alt+up",)
    """The query before this one."""
    later: tuple[str, ...] = ("alt+down",)
    """The query after this one."""
    up: tuple[str, ...] = ("up", "ctrl+p", "ctrl+k")
    """Select the note above."""
    down: tuple[str, ...] = ("down", "ctrl+n", "ctrl+j")
    """Select the note below."""
    page_up: tuple[str, ...] = ("pageup",)
    """Select the note a page above."""
    page_down: tuple[str, ...] = ("pagedown",)
    """Select the note a page below."""
    preview_up: tuple[str, ...] = ("shift+up",)
    """Scroll the preview up."""
    preview_down: tuple[str, ...] = ("shift+down",)
    """Scroll the preview down."""
    help: tuple[str, ...] = ("f1",)
    """Show the keys."""
    suspend: tuple[str, ...] = ("ctrl+z",)
    """Go back to the shell for a while; fg returns."""
    leave: tuple[str, ...] = ("escape",)
    """Back from related notes or a list; else leave."""
    abort: tuple[str, ...] = ("ctrl+c",)
    """Leave at once, with exit code 130."""


@dataclass(frozen=True, slots=True)
class TuiSettings:
    """The search screen in the terminal."""

    editor: str = ""
    """What opens a note, such as "nvim" or "code --wait"; empty: $VISUAL, else $EDITOR."""
    theme: Literal["terminal", "dark", "light"] = "terminal"
    """terminal: the terminal's own colours; dark and light: colours that do not depend on it."""
    preview: bool = True
    """Begin with the preview where the window has room for it."""
    history: bool = True
    """Keep what was searched for, in a file that only you can read."""
    keys: KeySettings = KeySettings()


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set."""

    embedder: EmbedderSettings = EmbedderSettings()
    watch: WatchSettings = WatchSettings()
    notes: NoteSettings = NoteSettings()
    sources: SourceSettings = SourceSettings()
    search: SearchSettings = SearchSettings()
    server: ServerSettings = ServerSettings()
    privacy: PrivacySettings = PrivacySettings()
    rules: RuleSettings = RuleSettings()
    dates: DateSettings = DateSettings()
    tui: TuiSettings = TuiSettings()


def parse(table: Mapping[str, Any]) -> Settings:
    """Read settings from a TOML table.

    Raises:
        ConfigError: An unknown key (with the nearest known one) or a value of the wrong type.
    """
    settings: Settings = _convert(Settings, _without_retired(table), "")
    return settings


def _check_owner(path: Path) -> None:
    """Refuse settings that another user could have written: they decide what is hidden from agents.

    Raises:
        ConfigError, OSError
    """
    if not hasattr(os, "getuid"):
        return
    owner = path.stat().st_uid
    if owner not in (os.getuid(), 0):
        raise ConfigError(
            f"the settings file {path} belongs to another user (id {owner})",
            hint=f"sudo chown $(id -u) '{path}', once you have read it",
        )


def check_apart(root: Path, data: Path) -> None:
    """See that the vault and vaultrag's own folder lie apart, before anything is made in either.

    Args:
        root: The vault, resolved.
        data: The folder of the indexes; it need not exist.

    Raises:
        VaultUnsuitable: One lies inside the other.
    """
    data = data.resolve()
    if data.is_relative_to(root) or root.is_relative_to(data):
        raise VaultUnsuitable(
            f"vaultrag keeps its index in {data}, which must not lie inside the vault",
            hint="choose the folder of notes itself, or set VAULTRAG_HOME",
            path=str(root),
        )


RETIRED = {"search": {"fusion", "words_weight", "passages_weight", "links_weight"}}
"""Settings of earlier versions that have no meaning any more, by table: passed over, so that an upgrade starts."""


def _without_retired(table: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        name: {key: item for key, item in value.items() if key not in RETIRED.get(name, ())}
        if isinstance(value, Mapping)
        else value
        for name, value in table.items()
    }


def load(path: Path) -> Settings:
    """Read the settings file; an absent file means the defaults.

    Raises:
        ConfigError: The file cannot be read or is not valid.
    """
    try:
        _check_owner(path)
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings file {path} cannot be read: {error}") from error
    try:
        return parse(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the settings file {path} is not valid TOML: {error}") from error
    except ConfigError as error:
        raise ConfigError(f"{error.message} (in {path})", hint=error.hint) from error


def _convert(kind: Any, value: object, where: str) -> Any:
    if is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, Mapping):
            raise ConfigError(f"[{where}] must be a table")
        hints = get_type_hints(kind)
        known = {f.name for f in fields(kind)}
        for key in value:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(sorted(known))}"
                raise ConfigError(f"unknown setting {_dotted(where, key)}", hint=hint)
        return kind(**{key: _convert(hints[key], item, _dotted(where, key)) for key, item in value.items()})
    return _scalar(kind, value, where)


def _scalar(kind: Any, value: object, where: str) -> Any:
    options = get_args(kind)
    if get_origin(kind) is Literal:
        if value not in options:
            raise ConfigError(f"{where} must be one of {', '.join(map(str, options))}, not {value!r}")
        return value
    if get_origin(kind) is tuple:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ConfigError(f"{where} must be a list of strings")
        return tuple(_scalar(options[0], item, where) for item in value)
    wanted = options[0] if options else kind
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
        raise ConfigError(f"{where} must be {_TYPE_NAMES[wanted]}, not {value!r}")
    if isinstance(value, int | float) and not isinstance(value, bool) and not 0 <= value < 1e12:
        raise ConfigError(f"{where} must not be negative, infinite or absurdly large")
    return value


_TYPE_NAMES = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def _dotted(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


@dataclass(frozen=True, slots=True)
class Places:
    """The paths of vaultrag's own files. Never inside a vault."""

    config_file: Path
    data: Path
    runtime: Path
    asked_socket: str = ""
    """A socket that clients try first: ``VAULTRAG_SOCKET``. A daemon does not listen there."""

    @classmethod
    def find(cls, environ: Mapping[str, str] | None = None) -> Places:
        """Return the platform's folders, or all under ``VAULTRAG_HOME``."""
        env = os.environ if environ is None else environ
        data = data_folder(env)
        asked = env.get("VAULTRAG_SOCKET", "")
        if base := own_home(env):
            return cls(base / "config.toml", data, base / "run", asked)
        config = Path(platformdirs.user_config_dir("vaultrag", appauthor=False))
        # Without a login session there is no runtime folder; a name under /tmp could be anybody's.
        runtime = Path(env["XDG_RUNTIME_DIR"]) / "vaultrag" if env.get("XDG_RUNTIME_DIR") else data / "run"
        return cls(config / "config.toml", data, runtime, asked)

    @property
    def socket(self) -> Path:
        """The Unix socket; in a short place of its own where the runtime folder's path is too long for one."""
        path = self.runtime / "daemon.sock"
        if len(os.fsencode(path)) <= SOCKET_PATH_LIMIT:
            return path
        digest = hashlib.blake2b(os.fsencode(self.runtime), digest_size=8).hexdigest()
        user = os.getuid() if hasattr(os, "getuid") else 0
        return Path(tempfile.gettempdir()) / f"vaultrag-{user}-{digest}" / "d.sock"

    @property
    def discovery(self) -> Path:
        """Tells clients where the daemon answers."""
        return discovery_file(self.data)

    @property
    def lock(self) -> Path:
        """Held by the one daemon that may write here."""
        return self.data / "daemon.lock"

    @property
    def registry(self) -> Path:
        """The vaults that are served, written by the daemon."""
        return self.data / "vaults.json"

    @property
    def log(self) -> Path:
        """Return what a daemon started in the background says."""
        return self.data / "daemon.log"

    @property
    def history(self) -> Path:
        """Return what was searched for on the search screen."""
        return self.data / "history"

    def vault_folder(self, vault_id: str) -> Path:
        """Return the folder of the vault's two database files."""
        return self.data / vault_id


def vault_id(root: Path) -> str:
    """Return a vault's short name on disk: its folder's name and a digest of where it lies.

    Args:
        root: Absolute, resolved.
    """
    name = "".join(c if c.isalnum() and c.isascii() else "-" for c in root.name.lower()).strip("-")[:24] or "vault"
    return f"{name}-{hashlib.blake2b(os.fsencode(root), digest_size=5).hexdigest()}"
