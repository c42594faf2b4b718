"""``Service``: every vault that is served, found by name."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from vaultrag import __version__
from vaultrag.app.events import EventBus
from vaultrag.app.vault import VaultService
from vaultrag.build import build_id
from vaultrag.config import vault_id
from vaultrag.domain import DaemonStatus, EmbedderStatus, Reader, Reason, State, VaultStatus
from vaultrag.errors import VaultMissing, VaultragError, VaultRefused, VaultUnknown

log = logging.getLogger(__name__)

OPENING_S = 10.0
"""A vault asked for while the daemon still takes up its vaults is waited for so long."""


class Service:
    """Every vault that is served.

    Attributes:
        news: Told of what changes in any vault.
        settled: Cleared by the owner while it takes up the vaults served before.
    """

    def __init__(
        self,
        open_vault: Callable[[Path, bool], VaultService],
        forget: Callable[[Path], None] = lambda root: None,
    ) -> None:
        self._open_vault = open_vault
        self._forget = forget
        self._vaults: dict[str, VaultService] = {}
        self._lock = threading.Lock()
        self._changing = threading.Lock()  # one vault comes or goes at a time; questions to the others do not wait
        self._closed = False
        self._refused: dict[Path, VaultragError] = {}
        self.news = EventBus()
        self._started = time.monotonic()
        self.build = build_id()  # now: the files may be another build's by the time somebody asks
        self._started_ns = time.time_ns()
        self.settled = threading.Event()
        self.settled.set()

    def add(self, root: Path) -> VaultService:
        """Serve this vault, if it is not served yet, now and after a restart.

        Raises:
            VaultError: The folder cannot be a vault, with the reason.
        """
        return self._add(root, known=False)

    def adopt(self, root: Path) -> VaultService:
        """Serve a vault that was served before, even while its folder is away."""
        return self._add(root, known=True)

    def _add(self, root: Path, *, known: bool) -> VaultService:
        try:
            resolved = Path(os.path.realpath(root.expanduser()))
        except (OSError, ValueError, RuntimeError) as error:
            raise VaultMissing(f"there is no such folder: {error}", path=str(root)[:200]) from error
        with self._changing:
            for vault in self.vaults:
                if vault.root == resolved:
                    return vault
            if self._closed:
                raise VaultUnknown("the daemon is stopping", hint="vaultrag up")
            vault = self._open_vault(root, known)
            with self._lock:
                self._vaults[vault.id] = vault
                self._refused.pop(resolved, None)
            self.news.tell(vault.id)
            return vault

    def refuse(self, root: Path, fault: VaultragError) -> None:
        """Remember why a vault cannot be opened, and say so in every answer until it can."""
        with self._lock:
            self._refused[root] = fault
        self.news.tell(vault_id(root))

    @property
    def refused(self) -> dict[Path, VaultragError]:
        """Vaults that cannot be opened, and why."""
        with self._lock:
            return dict(self._refused)

    def refusals(self) -> tuple[Reason, ...]:
        """Return the same as reasons, which answers of the other vaults give too."""
        if not self._refused:
            return ()
        return tuple(Reason(State.FULL, _refusal(root, why), why.hint) for root, why in self.refused.items())

    def renew(self, root: Path) -> None:
        """Close a vault whose index proved damaged and open it anew, which mends it. Questions wait meanwhile.

        Raises:
            VaultragError: It cannot be opened now, and is not served any more.
        """
        with self._changing:
            known = next((vault for vault in self.vaults if vault.root == root), None)
            if known is None or self._closed:
                return
            order = [vault.id for vault in self.vaults]
            self.settled.clear()
            try:
                with self._lock:
                    del self._vaults[known.id]
                _close(known)
                vault = self._open_vault(root, True)
                with self._lock:
                    self._vaults[vault.id] = vault
                    self._vaults = {i: self._vaults[i] for i in sorted(self._vaults, key=order.index)}
            finally:
                self.settled.set()

    def remove(self, name: str) -> None:
        """Serve this vault no longer. Its index stays where it is."""
        try:
            vault = self.vault(name)
        except VaultRefused:
            self._remove_refused(name)
            return
        with self._changing:
            with self._lock:
                known = self._vaults.pop(vault.id, None)
            if known is None:
                raise VaultUnknown(f"no vault {name[:200]} is served any more")
            self._forget(vault.root)
            vault.close()
        self.news.tell(vault.id)

    def _remove_refused(self, name: str) -> None:
        with self._changing:
            for root in self._refused_by(name):
                self._forget(root)
                with self._lock:
                    self._refused.pop(root, None)
                self.news.tell(vault_id(root))

    @property
    def vaults(self) -> list[VaultService]:
        with self._lock:
            return list(self._vaults.values())

    def vault(self, name: str = "") -> VaultService:
        """Return a vault by id, folder or folder name; without a name the only one.

        Raises:
            VaultUnknown
        """
        found = self._named(name) if self.settled.is_set() or name else None
        if found is None and not self.settled.is_set():
            self.settled.wait(OPENING_S)
        found = found or self._named(name)
        if found is not None:
            return found
        self._raise_refusal(name)
        vaults = self.vaults
        if name:
            raise VaultUnknown(f"no vault {name[:200]} is served", hint=f"vaultrag up {name[:200]}")
        if not vaults:
            raise VaultUnknown("no vault is served", hint="vaultrag up ~/Notes")
        names = ", ".join(vault.name for vault in vaults)
        raise VaultUnknown(f"several vaults are served ({names}): say which", hint="--vault DIR")

    def _raise_refusal(self, name: str) -> None:
        """Raise why the vault meant cannot be opened, if that is so."""
        refused = self.refused
        meant = self._refused_by(name) if name else list(refused)
        if not meant or (not name and self.vaults):
            return
        hint = next((refused[root].hint for root in meant if refused[root].hint), "vaultrag doctor")
        raise VaultRefused("; ".join(_refusal(root, refused[root]) for root in meant), hint=hint)

    def _refused_by(self, name: str) -> list[Path]:
        return [
            root
            for root in self.refused
            if name in (vault_id(root), str(root), root.name) or name.startswith(f"{root}/")
        ]

    def _named(self, name: str) -> VaultService | None:
        vaults = self.vaults
        if not name:
            return vaults[0] if len(vaults) == 1 else None
        for matches in (
            [v for v in vaults if v.id == name or str(v.root) == name.rstrip("/")],
            [v for v in vaults if v.name == name],
            [v for v in vaults if name.startswith(f"{v.root}/")],
        ):
            if len(matches) == 1:
                return matches[0]
        return None

    def status(self, *, full: bool = False, files: bool = False, reader: Reader = "person") -> DaemonStatus:
        """Return the state of the daemon and its vaults, as far as this reader may know it."""
        vaults = [vault.for_reader(reader) for vault in self.vaults]
        statuses = (
            *(vault.status(full=full, files=files) for vault in vaults),
            *(_refused_status(root, fault) for root, fault in self.refused.items()),
        )
        nothing = "no vault can be opened" if statuses else "no vault is served"
        embedder = vaults[0].embedder_status() if vaults else EmbedderStatus("", "", "off", nothing)
        states = [status.state for status in statuses]
        worst = next(
            (s for s in ("refused", "broken", "away", "starting", "indexing", "embedding") if s in states), "ready"
        )
        return DaemonStatus(
            pid=os.getpid(),
            version=__version__,
            state=worst if statuses else "idle",
            uptime_s=round(time.monotonic() - self._started, 3),
            started_ns=self._started_ns,
            notes=sum(status.notes for status in statuses),
            pending=sum(status.pending + status.to_read for status in statuses),
            skipped=sum(status.skipped for status in statuses),
            embedder=embedder,
            vaults=statuses,
            build=self.build,
        )

    def close(self) -> None:
        """Close every vault. None can be added afterwards."""
        with self._changing:
            self._closed = True
            # All at once: each may wait for a model that is still at work.
            closers = [threading.Thread(target=_close, args=(vault,)) for vault in self.vaults]
            for closer in closers:
                closer.start()
            for closer in closers:
                closer.join()
            with self._lock:
                self._vaults.clear()


def _refusal(root: Path, fault: VaultragError) -> str:
    return f"the vault {root.name} cannot be opened: {fault.message}"


def _refused_status(root: Path, fault: VaultragError) -> VaultStatus:
    return VaultStatus(vault_id(root), root.name, str(root), "refused", why=fault.message, hint=fault.hint)


def _close(vault: VaultService) -> None:
    try:
        vault.close()
    except VaultragError as fault:
        log.error("closing %s: %s", vault.id, fault.message)
    except Exception:
        log.exception("closing %s failed in a way that was not foreseen", vault.id)
