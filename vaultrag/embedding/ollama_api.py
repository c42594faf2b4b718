"""Ollama's HTTP interface, as far as vaultrag needs it, through the official client.

Every exception of the client and of httpx is translated here. Nothing is retried and nothing is judged: that is
``splitting`` and ``ollama``. Answers are not trusted further than their shape.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import ollama

from vaultrag.address import is_loopback
from vaultrag.config import EmbedderSettings
from vaultrag.embedding.batch_splitter import Refused
from vaultrag.errors import EmbedderUnavailable, ModelMissing

PLANNED_WINDOW = 2048
"""Tokens. Models that could take more are served with a smaller window unless told otherwise, and refuse the rest."""

QUICK_S = 5.0
"""Limit for questions that need no model."""

PULL_S = 600.0
"""Silence allowed during a download: the check of a large file sends nothing meanwhile."""

_BUSY = {408, 429, 499, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class ModelCard:
    """The facts of a model, from the server. ``dimension`` is 0 where it does not say."""

    window: int
    dimension: int


class OllamaApi:
    """One server and one model. Connects at the first call; safe to use from several threads.

    Args:
        host: As in the settings.
        model: With or without tag.
        timeout_s: Limit for a request that needs the model.
        keep_alive: How long the server keeps the model loaded afterwards.
    """

    def __init__(self, host: str, model: str, timeout_s: float = 60.0, keep_alive: str = "30m") -> None:
        self.host = host
        self.model = model
        self._timeout_s = timeout_s
        self._quick_s = min(QUICK_S, timeout_s)
        self._keep_alive: str | float = _duration(keep_alive)
        self._lock = threading.Lock()
        self._clients: dict[float, ollama.Client] | None = {}

    @classmethod
    def of(cls, settings: EmbedderSettings, timeout_s: float | None = None) -> OllamaApi:
        """For these settings; ``timeout_s`` overrides theirs."""
        return cls(settings.host, settings.model, timeout_s or settings.timeout_s, settings.keep_alive)

    def digest(self) -> str:
        """First twelve hex digits of the model's digest, as ``ollama list`` shows them.

        Raises:
            EmbedderUnavailable, ModelMissing
        """
        with self._translated(question=True):
            models = self._client(self._quick_s).list().models
        wanted = _tagged(self.model)
        for model in models:
            if model.model and _tagged(model.model) == wanted:
                return (model.digest or "").removeprefix("sha256:")[:12]
        raise self._missing()

    def card(self) -> ModelCard:
        """Window and dimension.

        Raises:
            EmbedderUnavailable, ModelMissing
        """
        with self._translated(question=True):
            answer = self._client(self._quick_s).show(self.model)
        info = answer.modelinfo or {}
        limits = [PLANNED_WINDOW, _number(info, ".context_length"), _parameter(answer.parameters or "", "num_ctx")]
        return ModelCard(min(limit for limit in limits if limit > 0), _number(info, ".embedding_length"))

    def embed(self, inputs: Sequence[str]) -> Sequence[Sequence[float]]:
        """Embed texts, whole or not at all (``truncate`` is false).

        Raises:
            Refused: The server does not take these texts, or its answer cannot be read.
            EmbedderUnavailable, ModelMissing
        """
        with self._translated():
            client = self._client(self._timeout_s)
            answer = client.embed(self.model, list(inputs), truncate=False, keep_alive=self._keep_alive)
        return answer.embeddings

    def pull(self, progress: Callable[[str, int, int], None]) -> None:
        """Download the model. ``progress`` gets the step's name, bytes done and bytes in all (0: unknown).

        Raises:
            EmbedderUnavailable, ModelMissing
        """
        try:
            with self._translated():
                for step in self._client(PULL_S).pull(self.model, stream=True):
                    progress(step.status or "", step.completed or 0, step.total or 0)
        except Refused as error:
            # The stream is answered with 200 and carries its error as a line.
            missing = "does not exist" in error.message or "not found" in error.message
            kind = ModelMissing if missing else EmbedderUnavailable
            raise kind(f"Ollama could not download {self.model}: {error.message}") from error

    def close(self) -> None:
        """Close the connections. Safe to call twice; afterwards nothing answers."""
        with self._lock:
            clients, self._clients = self._clients, None
        for client in (clients or {}).values():
            # The client's own close() is younger than the oldest client that is accepted.
            client._client.close()

    def _client(self, timeout_s: float) -> ollama.Client:
        # The limit belongs to the client, so there is one client for each limit.
        with self._lock:
            if self._clients is None:
                raise EmbedderUnavailable("the connection to Ollama is closed")
            if timeout_s not in self._clients:
                self._clients[timeout_s] = self._connect(timeout_s)
            return self._clients[timeout_s]

    def _connect(self, timeout_s: float) -> ollama.Client:
        try:
            loopback = is_loopback(self.host)
            return ollama.Client(
                self.host,
                # The client has no limit of its own. A machine that is there accepts within two seconds.
                timeout=httpx.Timeout(timeout_s, connect=min(2.0, timeout_s)),
                # A proxy from the environment must not see notes that never leave this machine.
                trust_env=not loopback,
                follow_redirects=not loopback,
            )
        except (ValueError, httpx.InvalidURL) as error:
            reason = f"embedder.host {self.host!r} is not an address: {error}"
            raise EmbedderUnavailable(reason, hint="vaultrag config") from error

    @contextmanager
    def _translated(self, *, question: bool = False) -> Iterator[None]:
        """``question``: no text was sent that could be to blame."""
        try:
            yield
        except ollama.ResponseError as error:
            refusal = self._refusal(error)
            raise self._no_ollama(refusal) if question and isinstance(refusal, Refused) else refusal from error
        except httpx.TimeoutException as error:
            raise EmbedderUnavailable(f"Ollama at {self.host} did not answer in time") from error
        except (ConnectionError, httpx.HTTPError, RuntimeError) as error:
            # RuntimeError: httpx's word for a client that was closed meanwhile.
            raise EmbedderUnavailable(f"Ollama does not answer at {self.host}", hint="ollama serve") from error
        except (ValueError, TypeError) as error:  # not JSON, or JSON of another shape
            refusal = Refused(0, "the answer cannot be read")
            raise self._no_ollama(refusal) if question else refusal from error

    def _refusal(self, error: ollama.ResponseError) -> Exception:
        message = str(error.error).strip().partition("\n")[0][:200]
        if error.status_code == 404:
            return self._missing() if "model" in message else self._no_ollama(Refused(404, message))
        if error.status_code in _BUSY:
            return EmbedderUnavailable(f"Ollama at {self.host} is busy: {message}")
        return Refused(error.status_code, message)

    def _no_ollama(self, refusal: Refused) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"what answers at {self.host} does not behave like Ollama: {refusal.message}")

    def _missing(self) -> ModelMissing:
        return ModelMissing(f"Ollama at {self.host} has no model {self.model}", hint=f"ollama pull {self.model}")


def _tagged(name: str) -> str:
    return (name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest").lower()


def _number(info: object, suffix: str) -> int:
    """Return the figure under ``<architecture><suffix>``; the architecture's name is in the key."""
    items = info.items() if isinstance(info, dict) else ()
    found = [value for key, value in items if key.endswith(suffix) and isinstance(value, int) and value > 0]
    return min(found, default=0)


def _parameter(parameters: str, name: str) -> int:
    """From lines like ``num_ctx                        8192``."""
    for line in parameters.splitlines():
        key, _, value = line.strip().partition(" ")
        if key == name and value.strip().isdecimal():
            return int(value)
    return 0


def _duration(keep_alive: str) -> str | float:
    """Return the value that the server takes: "30m" or a number of seconds, not a number as text; -1: for ever."""
    try:
        return float(keep_alive)
    except ValueError:
        return keep_alive
