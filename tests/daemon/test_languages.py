"""Vaults in other languages than English, right after install: the real daemon with the builtin models."""

from __future__ import annotations

import pytest

from tests.support.daemons import Home, RunningDaemon, daemon_home
from vaultrag.domain import Answer

pytestmark = [pytest.mark.slow, pytest.mark.model, pytest.mark.timeout(240)]

NOTES = {
    "Насосы.md": "# Насосы\n\nЗимой их чистят.\n\n## Течь\n\nЕсли из корпуса капает вода, меняют уплотнение.\n",
    "Отпуск.md": "# Отпуск\n\nВ июле едем на море, билеты уже куплены.\n",
    "Рецепты.md": "# Рецепты\n\nБорщ варят из свёклы, капусты и говядины.\n",
    "Garten.md": "# Garten\n\nDie Tomaten brauchen im Sommer jeden Abend Wasser und einen sonnigen Platz.\n",
    "Bank.md": "# Bank\n\nThe loan for the house is fixed at three percent for ten years.\n",
    "Violin.md": "# Violin\n\nTune the A string first, then the others in fifths.\n",
}
RUSSIAN, GERMAN, CROSS, ENGLISH = (
    "протекает крышка, что поменять",
    "Wie oft muss ich das Gemüse gießen?",
    "Wie hoch ist der Zins unserer Hypothek?",
    "interest rate of the mortgage",
)


def _settled(daemon: RunningDaemon) -> RunningDaemon:
    daemon.ready(60)
    daemon.until(lambda: not daemon.status().multilingual_pending or None, "the second model has read all", 60)
    return daemon


def _start(home: Home) -> RunningDaemon:
    for path, text in NOTES.items():
        home.write(path, text)
    return _settled(home.start())


def _first(answer: Answer) -> tuple[str, str]:
    assert answer.state in ("full", "relaxed"), answer.reasons
    return answer.hits[0].path, answer.hits[0].tier


def _hits(answer: Answer) -> list[tuple[str, float, str]]:
    return [(hit.path, hit.score, hit.preview) for hit in answer.hits]


def test_right_after_install() -> None:
    """Questions in Russian and German find notes that share no word with them, in their language and in English; the
    status names the languages.
    """
    with daemon_home({"embedder": {"provider": "builtin"}}) as home:
        daemon = _start(home)
        for query, path in ((RUSSIAN, "Насосы.md"), (GERMAN, "Garten.md"), (CROSS, "Bank.md"), (ENGLISH, "Bank.md")):
            found, tier = _first(daemon.client.search(query))
            assert (found, tier != "weak") == (path, True), query
        hit = daemon.client.search(RUSSIAN).hits[0]
        assert "уплотнение" in hit.preview
        embedder = daemon.client.status().embedder
        assert {"English", "German", "Russian"} <= set(embedder.languages)
        assert daemon.client.related("Насосы.md").hits is not None


def test_an_index_of_the_english_model_alone() -> None:
    """English is answered to the last digit as by the English model alone. An index that this has made keeps serving;
    no text is embedded again, and after the second model has read the notes, other languages are found too.
    """
    with daemon_home({"embedder": {"provider": "builtin", "builtin": "english"}}) as home:
        daemon = _start(home)
        assert daemon.client.status().embedder.languages == ["English"]
        english = _hits(daemon.client.search(ENGLISH, include_weak=True))
        identity = daemon.status().identity
        daemon.stop()
        home.configure({"embedder": {"provider": "builtin"}})
        daemon = _settled(home.start())
        assert _hits(daemon.client.search(ENGLISH, include_weak=True)) == english
        assert daemon.status().identity == identity
        assert daemon.counters["texts_embedded"] == 0
        assert _first(daemon.client.search(CROSS))[0] == "Bank.md"
