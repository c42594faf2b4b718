"""A vault of diaries in four languages, all files of one age, and questions about time with their right notes.

The same nine things recur every nine days, so that words alone never tell which day is meant.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

TODAY = date(2025, 3, 20)  # a Thursday
FIRST = date(2024, 12, 1)

TOPICS = {
    "en": ("boiler", "garden fence", "tax return", "choir rehearsal", "bicycle chain", "dentist", "school play",
           "bread dough", "beehive"),
    "de": ("Heizkessel", "Gartenzaun", "Steuererklärung", "Chorprobe", "Fahrradkette", "Zahnarzt", "Schultheater",
           "Brotteig", "Bienenstock"),
    "ja": ("ボイラー", "庭の柵", "確定申告", "合唱の練習", "自転車の鎖", "歯医者", "学芸会", "パン生地", "養蜂箱"),
    "zh": ("锅炉", "花园围栏", "报税", "合唱排练", "自行车链条", "牙医", "校园话剧", "面包面团", "蜂箱"),
}  # fmt: skip
SENTENCES = {
    "en": "Worked on the {0} and wrote down what is still missing. In the evening a short call about the {1}.",
    "de": "Am {0} gearbeitet und notiert, was noch fehlt. Abends ein kurzes Gespräch über: {1}.",
    "ja": "{0}の作業をして、足りないものを書き出した。夜は{1}について短い電話をした。",
    "zh": "处理了{0}，并记下还缺什么。晚上打了一个关于{1}的短电话。",
}
NAMES: dict[str, Callable[[date], str]] = {
    "en": lambda day: f"Daily/{day:%Y}/{day:%m}/{day}",
    "de": lambda day: f"Tagebuch/{day:%d.%m.%Y}",
    "ja": lambda day: f"日記/{day.year}年{day.month}月{day.day}日",
    "zh": lambda day: f"日志/{day:%Y%m%d}",
}


def topics_of(day: date, language: str) -> tuple[str, str]:
    """The two things that a day's note is about."""
    names = TOPICS[language]
    return names[day.toordinal() % 9], names[(day.toordinal() + 4) % 9]


def days() -> Iterator[date]:
    """Every day of the diaries."""
    day = FIRST
    while day <= TODAY:
        yield day
        day += timedelta(days=1)


def notes() -> dict[str, str]:
    """The notes by path."""
    made = {
        f"{NAMES[language](day)}.md": SENTENCES[language].format(*topics_of(day, language)) + "\n"
        for language in TOPICS
        for day in days()
    }
    for number, topic in enumerate(TOPICS["en"]):
        made[f"Reference/{topic.capitalize()}.md"] = (
            f"# {topic.capitalize()}\n\nWhat to know about the {topic}: rules, suppliers, how it is done each year.\n"
        )
        day = date(2024, 2 + number, 10 + number)
        made[f"Meetings/{day} {topic}.md"] = f"# Meeting on the {topic}\n\nWe decided who pays for the {topic}.\n"
        made[f"Projects/{topic}.md"] = f"---\ncreated: {day + timedelta(days=20)}\n---\nPlan for the {topic}: steps.\n"
    garden = "".join(
        f"## {day:%-d %B %Y}\n\nThe {plant} got water and a new label.\n\n"
        for day, plant in zip((TODAY - timedelta(days=3 * n) for n in range(12)), PLANTS, strict=True)
    )
    made["Garden journal.md"] = f"# Garden journal\n\n{garden}"
    for name, said in LANDLORDS.items():
        header = "".join(f"{key}: {value}\n" for key, value in said.items())
        made[f"Flat/Landlord {name}.md"] = (
            f"---\n{header}---\nThe landlord of the flat is {name}; rent goes to {name}.\n"
        )
    for title in ("Last Christmas", "Room 2025", "Windows 2000", "1984", "ISO 8601", "Yesterday"):
        made[f"Shelf/{title}.md"] = f"# {title}\n\nNotes on {title}: what it is, where it stands, whom it belongs to.\n"
    return made


PLANTS = ("tulip", "daffodil", "rosemary", "lavender", "thyme", "peony", "clematis", "quince", "currant", "rhubarb",
          "sorrel", "lovage")  # fmt: skip

LANDLORDS: dict[str, dict[str, str]] = {
    "Smith": {"valid_from": "2015-01-01", "valid_to": "2020-12-31"},
    "Jones": {"valid_from": "2021-01-01", "valid_to": "2023-06-30", "superseded_by": '"[[Landlord Brown]]"'},
    "Brown": {"valid_from": "2023-07-01"},
    "Green": {"valid_from": "2031-01-01"},
}


def write(folder: Path) -> None:
    """Write the vault; every file is of the same second."""
    for path, text in notes().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.utime(file, (1_900_000_000, 1_900_000_000))
    settings = folder / ".obsidian"
    settings.mkdir()
    (settings / "daily-notes.json").write_text('{"folder": "Daily", "format": "YYYY/MM/YYYY-MM-DD"}', "utf-8")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the notes that are right."""

    text: str
    right: frozenset[str]


def _day(day: date) -> frozenset[str]:
    return frozenset(f"{name(day)}.md" for name in NAMES.values())


def _about(language: str, topic: int, first: date, last: date) -> frozenset[str]:
    """The diary's notes about a thing between two days."""
    return frozenset(
        f"{NAMES[language](day)}.md"
        for day in days()
        if first <= day <= last and TOPICS[language][topic] in topics_of(day, language)
    )


def questions() -> Sequence[Question]:
    """Sixty questions: absolute, relative, around a day, ranges, as of a time."""
    week, last_week = (date(2025, 3, 17), TODAY), (date(2025, 3, 10), date(2025, 3, 16))
    january, february = (date(2025, 1, 1), date(2025, 1, 31)), (date(2025, 2, 1), date(2025, 2, 28))
    yesterday = (date(2025, 3, 19), date(2025, 3, 19))
    en, de, ja, zh = "en", "de", "ja", "zh"
    found = [
        ("what did I do on 12 March 2025", _day(date(2025, 3, 12))),
        ("what happened on 3 February 2025?", _day(date(2025, 2, 3))),
        ("what did I write on 2024-12-24", _day(date(2024, 12, 24))),
        ("notes of March 7, 2025", _day(date(2025, 3, 7))),
        ("what did I do on 5 January", _day(date(2025, 1, 5))),
        ("what did I do yesterday", _day(date(2025, 3, 19))),
        ("what did I do the day before yesterday", _day(date(2025, 3, 18))),
        ("what did I do 10 days ago", _day(date(2025, 3, 10))),
        ("what was on Monday", _day(date(2025, 3, 17))),
        ("what did I write two days before Christmas 2024", _day(date(2024, 12, 23))),
        ("what did I do on New Year's Eve", _day(date(2024, 12, 31))),
        ("what did I do about the boiler last week", _about(en, 0, *last_week)),
        ("work on the garden fence last week", _about(en, 1, *last_week)),
        ("calls about the dentist this week", _about(en, 5, *week)),
        ("what did I do about the tax return in January", _about(en, 2, *january)),
        ("choir rehearsal in February 2025", _about(en, 3, *february)),
        ("bread dough between 3 February and 9 February 2025", _about(en, 7, date(2025, 2, 3), date(2025, 2, 9))),
        ("beehive from 2025-01-06 to 2025-01-12", _about(en, 8, date(2025, 1, 6), date(2025, 1, 12))),
        ("bicycle chain around 15 January 2025", _about(en, 4, date(2025, 1, 12), date(2025, 1, 18))),
        ("school play around 20 February 2025", _about(en, 6, date(2025, 2, 17), date(2025, 2, 23))),
        ("who decided about the dentist in July 2024", frozenset({"Meetings/2024-07-15 dentist.md"})),
        ("meeting on the boiler in Q1 2024", frozenset({"Meetings/2024-02-10 boiler.md"})),
        ("which plant got water on 14 March 2025", frozenset({"Garden journal.md"}) | _day(date(2025, 3, 14))),
        ("who was the landlord in 2022", frozenset({"Flat/Landlord Jones.md"})),
        ("who was the landlord in 2018", frozenset({"Flat/Landlord Smith.md"})),
        ("landlord as-of:2021-05", frozenset({"Flat/Landlord Jones.md"})),
        ("landlord as-of:2024", frozenset({"Flat/Landlord Brown.md"})),
        ("was habe ich am 12. März 2025 gemacht", _day(date(2025, 3, 12))),
        ("was war am 03.02.2025", _day(date(2025, 2, 3))),
        ("was habe ich gestern gemacht", _day(date(2025, 3, 19))),
        ("was habe ich vor drei Tagen gemacht", _day(date(2025, 3, 17))),
        ("was war an Heiligabend", _day(date(2024, 12, 24))),
        ("Arbeit am Heizkessel letzte Woche", _about(de, 0, *last_week)),
        ("Gespräch über Gartenzaun letzte Woche", _about(de, 1, *last_week)),
        ("Steuererklärung im Januar", _about(de, 2, *january)),
        ("Chorprobe im Februar 2025", _about(de, 3, *february)),
        ("Fahrradkette um den 15. Januar 2025", _about(de, 4, date(2025, 1, 12), date(2025, 1, 18))),
        ("Brotteig vom 3. Februar 2025 bis 9. Februar 2025", _about(de, 7, date(2025, 2, 3), date(2025, 2, 9))),
        ("Zahnarzt diese Woche", _about(de, 5, *week)),
        ("2025年3月12日に何をした", _day(date(2025, 3, 12))),
        ("昨日何をした", _day(date(2025, 3, 19))),
        ("3日前に何をした", _day(date(2025, 3, 17))),
        ("2月3日に何をした", _day(date(2025, 2, 3))),
        ("クリスマスの2日前に何をした", _day(date(2024, 12, 23))),
        ("先週のボイラーの作業", _about(ja, 0, *last_week)),
        ("先週の庭の柵", _about(ja, 1, *last_week)),
        ("2025年1月の確定申告", _about(ja, 2, *january)),
        ("先月の合唱の練習", _about(ja, 3, *february)),
        ("2025年1月15日頃の自転車の鎖", _about(ja, 4, date(2025, 1, 12), date(2025, 1, 18))),
        ("今週の歯医者の電話", _about(ja, 5, *week)),
        ("2025年3月12日做了什么", _day(date(2025, 3, 12))),
        ("昨天做了什么", _day(date(2025, 3, 19))),
        ("三天前做了什么", _day(date(2025, 3, 17))),
        ("2月3日做了什么", _day(date(2025, 2, 3))),
        ("上周的锅炉", _about(zh, 0, *last_week)),
        ("上周的花园围栏", _about(zh, 1, *last_week)),
        ("2025年1月的报税", _about(zh, 2, *january)),
        ("上个月的合唱排练", _about(zh, 3, *february)),
        ("2025年1月15日左右的自行车链条", _about(zh, 4, date(2025, 1, 12), date(2025, 1, 18))),
        ("昨天的电话", _day(yesterday[0])),
    ]
    return [Question(text, right) for text, right in found]


VALIDITY: tuple[tuple[str, str, str], ...] = (
    ("who is the landlord", "Brown", "Green"),
    ("who is the landlord now", "Brown", "Jones"),
    ("is Jones still the landlord", "Brown", "Green"),
    ("landlord today", "Brown", "Jones"),
    ("who was the landlord in 2022", "Jones", "Brown"),
    ("who was the landlord in 2018", "Smith", "Brown"),
    ("landlord in march 2023", "Jones", "Brown"),
    ("landlord last year", "Brown", "Jones"),
    ("landlord before 2021", "Smith", "Brown"),
    ("wer war 2022 Vermieter (landlord)", "Jones", "Brown"),
    ("who used to be the landlord", "Jones", "Green"),
    ("former landlord", "Jones", "Brown"),
    ("landlord next year", "Brown", "Green"),
    ("landlord in 2031", "Green", "Jones"),
    ("landlord as-of:2016", "Smith", "Brown"),
)
"""Questions, the landlord who is to stand above all others that the last one stands for, and one who must not."""

TRAPS = (
    "Windows 2000", "1984", "Room 2025", "ISO 8601", "Last Christmas", "Yesterday", "boiler 2000", "model 1990 pump",
    "who owns room 2025", "windows 2000 setup", "the novel 1984", "dates by ISO 8601", "WO-2025-03-12", "may dentist",
    "second garden fence", "sun and moon", "Mar 5 transistor", "port 2024", "24/7 support", "a week of meals",
    "weekly review", "day trip", "on call", "Boeing 747", "Area 51", "Q1 transistor", "RFC 2025", "August the strong",
    "hier steht der Heizkessel", "Formular 2024",
)  # fmt: skip
