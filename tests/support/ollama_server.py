"""A local server that speaks Ollama's API, with vectors that follow from the words, and faults on demand.

Bodies, status codes and error texts are those of Ollama's own ``server/routes.go`` (0.13 and later). In a test::

    with OllamaServer() as server:
        server.script.poison["a bad word"] = "nan"
        embedder = OllamaEmbedder(EmbedderSettings(host=server.url))

As a process, for tests of the daemon: ``python -m tests.support.ollama_server --port 0`` prints its port. ``POST
/_script`` then takes the fields of ``Script`` as JSON, and ``GET /_script`` gives back the calls and inputs so far.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

MODEL = "nomic-embed-text:latest"
DIGEST = "0a109f422b47e3a30ba2b10eca18548e944e8a23073ee3f3e947efcf3c45e59f"

_WORDS = re.compile(r"[a-z0-9]+|[^\W\d_a-z]", re.IGNORECASE)
_PREFIXES = ("search_document: ", "search_query: ")


def hashed_vector(text: str, dimension: int) -> list[float]:
    """A unit vector from the words of a text: texts that share words are near, the others about at right angles."""
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    vector = [0.0] * dimension
    counts = Counter(_WORDS.findall(text.lower())) or Counter({"": 1})
    for word, count in counts.items():
        digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=16).digest()
        # Words of three letters and fewer are mostly in every text.
        weight = math.sqrt(count) * (0.3 if word.isascii() and len(word) <= 3 else 1.0)
        for start in (0, 4, 8):
            place = int.from_bytes(digest[start : start + 3], "big") % dimension
            vector[place] += weight if digest[start + 3] & 1 else -weight
    norm = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / norm for value in vector] if norm else vector


def count_tokens(text: str) -> int:
    """About what a WordPiece tokenizer makes of a text: four letters a token, other signs one each."""
    words = re.findall(r"[A-Za-z]+|\S", text)
    return 2 + sum(-(-len(word) // 4) for word in words)


@dataclass
class Model:
    """A model the server has, or that can be pulled."""

    dimension: int = 768
    context_length: int = 2048
    digest: str = DIGEST
    architecture: str = "nomic-bert"
    parameters: str = "num_ctx                        8192"


@dataclass
class Script:
    """What goes wrong. Everything is off to begin with."""

    poison: dict[str, str] = field(default_factory=dict)
    """A text that contains the key makes its whole batch fail: ``nan``, ``nan_400``, ``bad`` (400), ``crash`` (500),
    ``too_long``, ``drop`` (connection cut), ``zero`` (a vector of zeros), ``null`` (nulls in the vector)."""
    fail: list[int] = field(default_factory=list)
    """Status codes for the next embed calls, one each."""
    fail_always: int = 0
    """Status code for every embed call."""
    count_off: int = 0
    """Vectors too many (or too few, negative) in every answer."""
    dimension_off: int = 0
    """Numbers too many (or too few, negative) in every vector."""
    delay_s: float = 0.0
    """Wait before every answer to embed."""
    drop: int = 0
    """Cut so many of the next embed answers off in the middle."""
    hide_dimension: bool = False
    """Say nothing of the dimension in /api/show."""
    too_long_status: int = 400
    """400; 500 and 413 have been seen as well."""
    garbage: bool = False
    """Answer everything with a web page, as some other program on the port would."""
    pull_error: str = ""
    """Fail a download with this text in its stream."""


class Cut(Exception):
    """End the connection without an answer."""


class OllamaServer:
    """The server. Reads and writes of its fields are safe from any thread.

    Attributes:
        models: What /api/tags lists, by full name.
        pullable: What /api/pull can fetch; an unknown name gives Ollama's error.
        script: Faults.
        calls: Requests so far, by path.
        inputs: Every text that was sent to /api/embed, in order.
        bodies: Every body that was sent to /api/embed.
    """

    def __init__(self, models: Mapping[str, Model] | None = None, port: int = 0) -> None:
        self.models: dict[str, Model] = dict({MODEL: Model()} if models is None else models)
        self.pullable: dict[str, Model] = {
            MODEL: Model(),
            "mxbai-embed-large:latest": Model(1024, 512, architecture="bert"),
        }
        self.script = Script()
        self.calls: Counter[str] = Counter()
        self.inputs: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.lock = threading.RLock()
        self._port = port
        self._http: _Http | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> OllamaServer:
        """Listen; after ``stop``, on the same port again."""
        self._http = _Http(("127.0.0.1", self._port), _Handler, self)
        self._port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), name="ollama-server")
        self._thread.start()
        return self

    def stop(self) -> None:
        """Be dead: the port refuses, open connections are cut."""
        if self._http is None or self._thread is None:
            return
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        self._http = self._thread = None

    def reset(self) -> None:
        """Forget calls, inputs and faults."""
        with self.lock:
            self.script = Script()
            self.calls.clear()
            self.inputs.clear()
            self.bodies.clear()

    def find(self, name: str) -> Model | None:
        """By name, with or without the tag ``latest``, in any case."""
        wanted = _full(name)
        with self.lock:
            return next((model for known, model in self.models.items() if known.lower() == wanted), None)

    def __enter__(self) -> OllamaServer:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], ollama: OllamaServer) -> None:
        self.ollama = ollama
        self._open: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""

    def server_close(self) -> None:
        super().server_close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms for the head to be acknowledged
    server: _Http

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._serve({"/api/version": self._version, "/api/tags": self._tags, "/_script": self._report})

    def do_POST(self) -> None:
        routes = {
            "/api/show": self._show,
            "/api/embed": self._embed,
            "/api/pull": self._pull,
            "/_script": self._rescript,
        }
        self._serve(routes)

    def _serve(self, routes: Mapping[str, Any]) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        ollama = self.server.ollama
        if self.path in routes and not self.path.startswith("/_"):
            with ollama.lock:
                ollama.calls[self.path] += 1
        try:
            if ollama.script.garbage and not self.path.startswith("/_"):
                self._send(200, b"<html>It works!</html>", "text/html")
            elif self.path not in routes:
                self._send(404, b"404 page not found", "text/plain")
            else:
                try:
                    request = json.loads(body) if body else {}
                except ValueError as error:
                    self._error(400, str(error))
                    return
                routes[self.path](request)
        except (Cut, BrokenPipeError, ConnectionResetError):
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

    def _version(self, request: dict[str, Any]) -> None:
        self._json(200, {"version": "0.13.5"})

    def _tags(self, request: dict[str, Any]) -> None:
        with self.server.ollama.lock:
            models = list(self.server.ollama.models.items())
        listed = [
            {
                "name": name,
                "model": name,
                "modified_at": "2025-02-03T19:22:18.145435125-03:00",
                "size": 274302450,
                "digest": model.digest,
                "details": _details(model),
            }
            for name, model in models
        ]
        self._json(200, {"models": listed})

    def _show(self, request: dict[str, Any]) -> None:
        name = str(request.get("model") or request.get("name") or "")
        model = self.server.ollama.find(name)
        if not name:
            self._error(400, "model is required")
        elif model is None:
            self._error(404, f"model '{name}' not found")
        else:
            info: dict[str, Any] = {
                "general.architecture": model.architecture,
                "general.file_type": 1,
                "general.parameter_count": 136727040,
                f"{model.architecture}.block_count": 12,
                f"{model.architecture}.context_length": model.context_length,
                f"{model.architecture}.embedding_length": model.dimension,
                f"{model.architecture}.pooling_type": 1,
                "tokenizer.ggml.model": "bert",
                "tokenizer.ggml.tokens": None,
            }
            if self.server.ollama.script.hide_dimension:
                del info[f"{model.architecture}.embedding_length"]
            self._json(
                200,
                {
                    "license": "Apache License",
                    "modelfile": f'# Modelfile generated by "ollama show"\nFROM {name}\n',
                    "parameters": model.parameters,
                    "template": "{{ .Prompt }}",
                    "details": _details(model),
                    "model_info": info,
                    "capabilities": ["embedding"],
                    "modified_at": "2025-02-03T19:22:18.145435125-03:00",
                },
            )

    def _embed(self, request: dict[str, Any]) -> None:
        ollama = self.server.ollama
        given = request.get("input")
        texts = [given] if isinstance(given, str) and given else given or []
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            self._error(400, "invalid input type")
            return
        with ollama.lock:
            ollama.inputs.extend(texts)
            ollama.bodies.append(request)
            status = ollama.script.fail.pop(0) if ollama.script.fail else ollama.script.fail_always
            dropped = ollama.script.drop > 0
            ollama.script.drop = max(ollama.script.drop - 1, 0)
        time.sleep(ollama.script.delay_s)
        model = ollama.find(str(request.get("model", "")))
        if model is None:
            self._error(404, f'model "{request.get("model", "")}" not found, try pulling it first')
            return
        failure = self._failure(status, texts, model)
        if failure is not None:
            self._error(*failure)
            return
        vectors = [self._vector(text, model) for text in texts]
        vectors = (vectors + vectors[:1] * ollama.script.count_off)[: len(vectors) + ollama.script.count_off]
        answer = json.dumps(
            {
                "model": request["model"],
                "embeddings": vectors,
                "total_duration": 14143917,
                "load_duration": 1019500,
                "prompt_eval_count": sum(count_tokens(text) for text in texts),
            }
        ).encode()
        self._send(200, answer, cut=dropped)

    def _failure(self, status: int, texts: list[str], model: Model) -> tuple[int, str] | None:
        script = self.server.ollama.script
        if status == 503:
            return 503, "server busy, please try again.  maximum pending requests exceeded"
        if status:
            return status, "llama runner process has terminated: exit status 2"
        for text in texts:
            kind = next((kind for part, kind in script.poison.items() if part in text), "")
            if kind == "drop":
                raise Cut
            if kind == "too_long" or count_tokens(text) > model.context_length:
                return script.too_long_status, "the input length exceeds the context length"
            if kind in _POISON:
                return _POISON[kind]
        return None

    def _vector(self, text: str, model: Model) -> list[float | None]:
        script = self.server.ollama.script
        kind = next((kind for part, kind in script.poison.items() if part in text), "")
        vector: list[float | None] = list(hashed_vector(text, model.dimension + script.dimension_off))
        if kind == "zero":
            return [0.0] * len(vector)
        return [None] * len(vector) if kind == "null" else vector

    def _pull(self, request: dict[str, Any]) -> None:
        name = _full(str(request.get("model") or request.get("name") or ""))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in self._pull_steps(name):
            data = json.dumps(line).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def _pull_steps(self, name: str) -> Iterator[dict[str, Any]]:
        ollama = self.server.ollama
        yield {"status": "pulling manifest"}
        model = ollama.pullable.get(name)
        if ollama.script.pull_error or model is None:
            yield {"error": ollama.script.pull_error or "pull model manifest: file does not exist"}
            return
        layer = {"status": f"pulling {model.digest[:12]}", "digest": f"sha256:{model.digest}", "total": 274290656}
        yield layer
        for done in (100_000_000, 200_000_000, 274_290_656):
            yield {**layer, "completed": done}
        for step in ("verifying sha256 digest", "writing manifest"):
            yield {"status": step}
        with ollama.lock:
            ollama.models[name] = model
        yield {"status": "success"}

    def _report(self, request: dict[str, Any]) -> None:
        ollama = self.server.ollama
        with ollama.lock:
            self._json(200, {"calls": dict(ollama.calls), "inputs": list(ollama.inputs)})

    def _rescript(self, request: dict[str, Any]) -> None:
        """Set fields of the script. ``reset`` clears all, ``models`` names what is there, ``digest`` is for all."""
        ollama = self.server.ollama
        known = {f.name for f in fields(Script)}
        unknown = set(request) - known - {"reset", "models", "digest"}
        if unknown:
            self._error(400, f"not in the script: {', '.join(sorted(unknown))}")
            return
        with ollama.lock:
            if request.get("reset"):
                ollama.reset()
            if "models" in request:
                ollama.models = {_full(name): ollama.pullable.get(_full(name), Model()) for name in request["models"]}
            for model in ollama.models.values() if "digest" in request else ():
                model.digest = request["digest"]
            for name in known & set(request):
                setattr(ollama.script, name, request[name])
        self._json(200, {})

    def _error(self, status: int, message: str) -> None:
        self._json(status, {"error": message})

    def _json(self, status: int, value: object) -> None:
        self._send(status, json.dumps(value).encode(), "application/json; charset=utf-8")

    def _send(
        self, status: int, data: bytes, kind: str = "application/json; charset=utf-8", *, cut: bool = False
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        if cut:
            raise Cut


_POISON = {
    "nan": (500, "failed to encode response: json: unsupported value: NaN"),
    "nan_400": (400, "embedding contains NaN or Inf values"),
    "bad": (400, "invalid input"),
    "crash": (500, 'do embedding request: Post "http://127.0.0.1:43210/embedding": EOF'),
}


def _full(name: str) -> str:
    return (name if ":" in name else f"{name}:latest").lower()


def _details(model: Model) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": model.architecture,
        "families": [model.architecture],
        "parameter_size": "137M",
        "quantization_level": "F16",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="A local server that speaks Ollama's API.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--no-models", action="store_true", help="start with nothing pulled")
    options = parser.parse_args()
    with OllamaServer({} if options.no_models else None, options.port) as server:
        print(server.port, flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
