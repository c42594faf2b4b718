"""The model: a sentence is really embedded, and timed. A server that answers may still lack the model."""

from __future__ import annotations

import time
from collections.abc import Iterator

from vaultrag.address import is_loopback
from vaultrag.config import vault_id
from vaultrag.doctor.findings import Case, Finding, ok
from vaultrag.domain import Identity
from vaultrag.embedding.ollama_api import OllamaApi
from vaultrag.embedding.registry import better, choose
from vaultrag.errors import EmbedError, ModelMissing, StoreError
from vaultrag.protocols import Embedder, MultilingualEmbedder
from vaultrag.storage.inspection import VectorsFile

SENTENCE = "The mechanical seal is changed when it leaks."
FOREIGN_SENTENCE = "Die Gleitringdichtung wird gewechselt, wenn sie leckt."


def check(case: Case) -> Iterator[Finding]:
    settings = case.settings.embedder
    recorded = _recorded(case)
    embedder = choose(settings, recorded)
    if embedder is None:
        yield ok("model", "meaning search is switched off in the settings: words only")
        return
    try:
        sentence = _embedded(embedder, recorded)
        yield sentence
        if isinstance(embedder, MultilingualEmbedder):
            yield _multilingual(embedder)
    finally:
        embedder.close()
    if embedder.status().provider == "ollama":
        yield from _ollama(case)
    elif sentence.grade == "ok" and (more := better(settings, embedder.status().provider)):
        yield ok("model choice", more, "a larger model could be used", "")


def _recorded(case: Case) -> Identity | None:
    """Return what the first vault's vectors were made with: it decides which embedder ``auto`` is."""
    for root in case.roots:
        try:
            return VectorsFile(case.places.vault_folder(vault_id(root))).identity()
        except StoreError:
            continue  # told of by the check of the files
    return None


def _embedded(embedder: Embedder, recorded: Identity | None) -> Finding:
    name = embedder.status()
    shown = f"{name.provider} {name.model}"
    started = time.perf_counter()
    try:
        vector = embedder.embed_query(SENTENCE)
        identity = embedder.identity()
    except EmbedError as error:
        plain = f"{shown} does not embed: {type(error).__name__}"
        text = f"{shown} does not embed: {error.message}; words are searched all the same"
        return Finding("model", "fault", text, plain, error.hint)
    took = time.perf_counter() - started
    facts = f"{shown} embedded a sentence in {took * 1000:,.0f} ms, {len(vector)} numbers"
    if recorded is not None and recorded != identity:
        text = f"{facts}; the vectors are of another model or version and are made again"
        return Finding("model", "warning", text, text, "vaultrag status")
    return ok("model", facts)


def _multilingual(embedder: MultilingualEmbedder) -> Finding:
    """Have the second model embed a sentence: it is loaded from files of its own."""
    name = embedder.multilingual_identity()
    shown = f"{name.provider} {name.model}"
    started = time.perf_counter()
    try:
        vector = embedder.embed_multilingual_query(FOREIGN_SENTENCE)
    except EmbedError as error:
        plain = f"{shown} does not embed: {type(error).__name__}"
        text = f"{shown} does not embed: {error.message}; questions that are not English are searched by words"
        return Finding("other languages", "fault", text, plain, error.hint)
    took = time.perf_counter() - started
    facts = f"{shown} embedded a sentence in {took * 1000:,.0f} ms, {len(vector)} numbers"
    return ok("other languages", f"{facts}: {', '.join(embedder.status().languages)}")


def _ollama(case: Case) -> Iterator[Finding]:
    settings = case.settings.embedder
    api = OllamaApi.of(settings, timeout_s=5.0)
    try:
        digest, card = api.digest(), api.card()
        text = f"{settings.model} ({digest}) takes {card.window:,} tokens at a time"
        yield ok("Ollama", f"{settings.host}: {text}", text)
    except EmbedError as error:
        plain = "it does not have the model" if isinstance(error, ModelMissing) else "it does not answer"
        yield Finding("Ollama", "fault", error.message, plain, error.hint)
    finally:
        api.close()
    try:
        if not is_loopback(settings.host):
            text = f"{settings.host} is another machine: your notes are sent there"
            yield Finding("Ollama", "warning", text, "it runs on another machine", "vaultrag config edit")
    except ValueError as error:
        text = f"embedder.host is not an address: {error}"
        yield Finding("Ollama", "fault", text, "embedder.host is not an address", "vaultrag config edit")
