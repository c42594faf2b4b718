"""A real user manager of systemd, in namespaces of its own: its own mounts, processes, control group, home and journal.

Nothing of it is the machine's: the home is a file system in memory, the person a number that no account has, and all of
it is gone with the process that holds the namespaces. It wants root, as it mounts; what runs in it is not root.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import site
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.daemons import REPOSITORY, until

USER = 47_110
HOME = "/home/you"
RUNTIME = f"/run/user/{USER}"
SYSTEMD = next((p for p in ("/usr/lib/systemd", "/lib/systemd") if Path(p, "systemd").exists()), "")

# As a login arranges it: by this path the journal knows whose service it is that speaks.
_GROUP = f"user.slice/user-{USER}.slice/user@{USER}.service"

_SETUP = f"""
set -e
mount --make-rprivate /
mkdir -p /run/systemd
mount -t tmpfs -o mode=755 tmpfs /run/systemd
mkdir -p /run/systemd/system /run/systemd/unit-root /run/user /home /srv /run/log
mount -t tmpfs -o mode=755 tmpfs /run/user
mount -t tmpfs -o mode=755 tmpfs /run/log
mount -t tmpfs -o mode=755 tmpfs /srv
mount -t tmpfs -o mode=755 tmpfs /var/log
mkdir -p /srv/site /srv/source /srv/python /var/log/journal {RUNTIME}
mount --bind "$SITE" /srv/site
mount --bind "$SOURCE" /srv/source
mount --bind "$PYTHON" /srv/python
mount -t tmpfs -o mode=755 tmpfs /home
mkdir -p {HOME}
case "$PYTHON" in
    /root/*) mount -t tmpfs -o mode=755 tmpfs /root; mkdir -p "$PYTHON"; mount --bind /srv/python "$PYTHON";;
    /home/*) mkdir -p "$PYTHON"; mount --bind /srv/python "$PYTHON";;
esac
echo 0123456789abcdef0123456789abcdef > /srv/machine-id
test -e /etc/machine-id || : > /etc/machine-id
mount --bind /srv/machine-id /etc/machine-id
mount -t tmpfs tmpfs /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mount -t proc proc /proc
mkdir -p $GROUP/init.scope $GROUP/{_GROUP}
echo $$ > $GROUP/init.scope/cgroup.procs
chown -R {USER}:{USER} $GROUP/{_GROUP} {HOME} {RUNTIME}
chmod 700 {HOME} {RUNTIME}
mkdir -p /run/systemd/journald.conf.d
printf '[Journal]\\nReadKMsg=no\\nAudit=no\\n' > /run/systemd/journald.conf.d/own.conf
{SYSTEMD}/systemd-journald >/dev/null 2>&1 &
n=0; until journalctl --flush 2>/dev/null || test $n = 50; do n=$((n+1)); sleep 0.1; done
echo ready
read end || true
kill -9 -1 || true
sleep 0.2
echo $$ > /sys/fs/cgroup/cgroup.procs
find $GROUP -depth -type d -exec rmdir {{}} \\; || true
"""

_ENTER = f"""
echo $$ > $GROUP/{_GROUP}/cgroup.procs
cd {HOME}
exec setpriv --reuid {USER} --regid {USER} --clear-groups env -i "$@"
"""


PYTHON = f"{sys.base_prefix}/bin/python{sys.version_info.major}.{sys.version_info.minor}"
"""The interpreter of the tests, which is to be seen there too, wherever it lies."""

_PROBE = """
mount --make-rprivate /
mount -t tmpfs tmpfs /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
probe=$(mktemp -d /sys/fs/cgroup/vaultrag-probe.XXXXXXXX)
rmdir "$probe"
"""


def missing() -> str:
    """Why no manager can be run here; empty where one can."""
    if sys.platform != "linux":
        return "systemd is Linux's"
    if not SYSTEMD:
        return "systemd is not installed: apt install systemd"
    if os.getuid() != 0:
        return "only root can make the namespaces that a user manager of its own wants"
    absent = [tool for tool in ("unshare", "nsenter", "setpriv", "systemctl", "journalctl") if not shutil.which(tool)]
    if absent:
        return f"{', '.join(absent)} is not installed"
    tried = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", _PROBE],
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    return "" if tried.returncode == 0 else f"no control group can be made here: {tried.stderr.strip()[:200]}"


class Machine:
    """The namespaces, and what is run in them."""

    def __init__(self, holder: subprocess.Popen[str], group: str) -> None:
        self._holder = holder
        self._group = group
        self._inside = _child_of(holder.pid)
        self._manager: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What a person's shell has there."""
        path = f"{HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin"
        return {"HOME": HOME, "XDG_RUNTIME_DIR": RUNTIME, "PATH": path, "LANG": "C.UTF-8", "USER": "you"}

    def _command(self, words: tuple[str, ...], environment: Mapping[str, str]) -> list[str]:
        told = [f"{name}={value}" for name, value in environment.items()]
        enter = ["nsenter", "--target", str(self._inside), "--mount", "--pid", "env", f"GROUP={self._group}"]
        return [*enter, "sh", "-c", _ENTER, "sh", *told, *words]

    def run(
        self, *words: str, timeout_s: float = 120, code: int | None = 0, more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command as the person, and return what it says; with this exit code, unless any is fine."""
        done = subprocess.run(
            self._command(words, {**self.environment, **(more or {})}),
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout_s, check=False,
        )  # fmt: skip
        assert code is None or done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done

    def shell(self, text: str, timeout_s: float = 120) -> str:
        """Run a line of shell as the person; what it prints."""
        return self.run("sh", "-ec", text, timeout_s=timeout_s).stdout

    def as_root(self, text: str) -> str:
        """Run a line of shell in the namespaces as root; what it prints."""
        done = subprocess.run(
            ["nsenter", "--target", str(self._inside), "--mount", "--pid", "sh", "-ec", text],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        return done.stdout

    def boot(self) -> None:
        """Start the person's manager, as a login does."""
        self._manager = subprocess.Popen(
            self._command((f"{SYSTEMD}/systemd", "--user", "--log-target=console"), self.environment),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until(lambda: self._up() or None, "the user manager runs", 30, 0.1)

    def _up(self) -> bool:
        said = self.run("systemctl", "--user", "is-system-running", code=None).stdout.strip()
        return said in ("running", "degraded")

    def shut_down(self) -> None:
        """End it, and with it all that it runs, as a reboot does."""
        assert self._manager is not None
        self.run("systemctl", "--user", "exit", code=None)
        self._manager.wait(90)
        self._manager = None

    def install_vaultrag(self) -> None:
        """An environment of its own with this source in it; its dependencies are those of the tests."""
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.shell(
            f"""
            {PYTHON} -m venv --without-pip {HOME}/env
            printf '%s\\n' /srv/source /srv/site > {HOME}/env/lib/{version}/site-packages/here.pth
            mkdir -p {HOME}/.local/bin
            printf '#!/bin/sh\\nexec {HOME}/env/bin/python -P -m vaultrag "$@"\\n' > {HOME}/.local/bin/vaultrag
            chmod +x {HOME}/.local/bin/vaultrag
            """
        )

    def end(self) -> None:
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            if self._manager is not None:
                self.shut_down()
        assert self._holder.stdin is not None
        with contextlib.suppress(OSError):
            self._holder.stdin.close()
        try:
            self._holder.wait(15)
        except subprocess.TimeoutExpired:
            self._holder.kill()
            self._holder.wait(15)
        if self._manager is not None:
            self._manager.wait(15)


@contextlib.contextmanager
def machine() -> Iterator[Machine]:
    """The namespaces, gone with the block."""
    group = f"/sys/fs/cgroup/vaultrag-test.{os.getpid()}-{time.monotonic_ns()}"
    # The dependencies of this interpreter; not what it knows of this source.
    packages = next(path for path in site.getsitepackages() if Path(path).is_dir())
    holder = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _SETUP],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "GROUP": group, "SITE": packages, "SOURCE": str(REPOSITORY), "PYTHON": sys.base_prefix},
    )  # fmt: skip
    assert holder.stdout is not None
    try:
        said = holder.stdout.readline()
        assert said == "ready\n", f"the namespaces were not made ({holder.poll()})"
        made = Machine(holder, group)
        try:
            yield made
        finally:
            made.end()
    finally:
        if holder.poll() is None:
            holder.kill()
        holder.wait(15)
        holder.stdout.close()


def _child_of(pid: int) -> int:
    """The one child of a process: what ``unshare --fork`` has made."""
    return int(until(lambda: Path(f"/proc/{pid}/task/{pid}/children").read_text().split() or None, "it forks")[0])
