"""Words for time in English, German, French, Spanish, Japanese and Chinese, as patterns and tables. Lower case."""

from __future__ import annotations

from typing import Final, Literal

Unit = Literal["day", "week", "month", "quarter", "year"]

COUNTS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "a couple of": 2, "couple of": 2,
    "ein": 1, "eine": 1, "einem": 1, "einen": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6,
    "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "sept": 7, "huit": 8, "neuf": 9, "dix": 10,
    "una": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10,
    "一": 1, "二": 2, "两": 2, "兩": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip

UNITS: Final[dict[str, Unit]] = {
    "day": "day", "days": "day", "week": "week", "weeks": "week", "month": "month", "months": "month",
    "quarter": "quarter", "quarters": "quarter", "year": "year", "years": "year",
    "tag": "day", "tage": "day", "tagen": "day", "woche": "week", "wochen": "week", "monat": "month",
    "monate": "month", "monaten": "month", "quartal": "quarter", "jahr": "year", "jahre": "year", "jahren": "year",
    "jour": "day", "jours": "day", "semaine": "week", "semaines": "week", "mois": "month", "trimestre": "quarter",
    "année": "year", "an": "year", "ans": "year", "années": "year",
    "día": "day", "días": "day", "dia": "day", "dias": "day", "semana": "week", "semanas": "week", "mes": "month",
    "meses": "month", "año": "year", "años": "year",
    "日": "day", "日間": "day", "天": "day", "週": "week", "週間": "week", "周": "week", "星期": "week",
    "个星期": "week",
    "個星期": "week", "礼拜": "week", "月": "month", "ヶ月": "month", "か月": "month", "カ月": "month", "ヵ月": "month",
    "箇月": "month", "个月": "month", "個月": "month", "季度": "quarter", "四半期": "quarter", "年": "year",
    "年間": "year",
}  # fmt: skip

DAYS: Final = {
    "today": 0, "yesterday": -1, "tomorrow": 1, "the day before yesterday": -2, "day before yesterday": -2,
    "heute": 0, "gestern": -1, "vorgestern": -2, "übermorgen": 2,
    "aujourd'hui": 0, "aujourd\u2019hui": 0, "hier": -1, "avant-hier": -2, "demain": 1,
    "hoy": 0, "ayer": -1, "anteayer": -2, "antier": -2,
    "今日": 0, "本日": 0, "昨日": -1, "一昨日": -2, "おととい": -2, "きのう": -1, "明日": 1, "明後日": 2,
    "今天": 0, "昨天": -1, "前天": -2, "明天": 1, "后天": 2,
}  # fmt: skip

SPANS: Final[dict[str, tuple[Unit, int]]] = {
    "先週": ("week", -1), "今週": ("week", 0), "来週": ("week", 1), "先々週": ("week", -2), "先月": ("month", -1),
    "今月": ("month", 0), "来月": ("month", 1), "先々月": ("month", -2), "去年": ("year", -1), "昨年": ("year", -1),
    "今年": ("year", 0), "来年": ("year", 1), "一昨年": ("year", -2), "おととし": ("year", -2),
    "上周": ("week", -1), "上週": ("week", -1), "上星期": ("week", -1), "上个星期": ("week", -1),
    "上個星期": ("week", -1),
    "上上周": ("week", -2), "本周": ("week", 0), "这周": ("week", 0), "這週": ("week", 0), "这个星期": ("week", 0),
    "这星期": ("week", 0), "下周": ("week", 1), "下週": ("week", 1), "下个星期": ("week", 1), "下星期": ("week", 1),
    "上个月": ("month", -1), "上個月": ("month", -1), "上月": ("month", -1), "这个月": ("month", 0),
    "這個月": ("month", 0),
    "本月": ("month", 0), "下个月": ("month", 1), "下個月": ("month", 1), "下月": ("month", 1), "前年": ("year", -2),
    "明年": ("year", 1), "上季度": ("quarter", -1), "上个季度": ("quarter", -1), "本季度": ("quarter", 0),
    "the week before last": ("week", -2), "the month before last": ("month", -2), "the year before last": ("year", -2),
    "la semaine dernière": ("week", -1), "la semaine passée": ("week", -1), "le mois dernier": ("month", -1),
    "le mois passé": ("month", -1), "l'année dernière": ("year", -1), "l\u2019année dernière": ("year", -1),
    "l'an dernier": ("year", -1), "l\u2019an dernier": ("year", -1), "l'année passée": ("year", -1),
    "le trimestre dernier": ("quarter", -1), "cette semaine": ("week", 0), "ce mois-ci": ("month", 0),
    "ce mois": ("month", 0), "cette année": ("year", 0), "la semaine prochaine": ("week", 1),
    "le mois prochain": ("month", 1), "l'année prochaine": ("year", 1), "l'an prochain": ("year", 1),
    "la semana pasada": ("week", -1), "el mes pasado": ("month", -1), "el año pasado": ("year", -1),
    "el trimestre pasado": ("quarter", -1), "esta semana": ("week", 0), "este mes": ("month", 0),
    "este año": ("year", 0), "la próxima semana": ("week", 1), "la semana que viene": ("week", 1),
    "el próximo mes": ("month", 1), "el mes que viene": ("month", 1), "el próximo año": ("year", 1),
    "el año que viene": ("year", 1), "semana pasada": ("week", -1), "semaine dernière": ("week", -1),
}  # fmt: skip

STEPS: Final = {
    "last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1,
    "letzte": -1, "letzter": -1, "letzten": -1, "letztes": -1, "letztem": -1, "vorige": -1, "vorigen": -1,
    "voriges": -1, "vergangene": -1, "vergangenen": -1, "vergangenes": -1, "vorletzte": -2, "vorletzten": -2,
    "vorletztes": -2, "diese": 0, "dieser": 0, "diesen": 0, "dieses": 0, "diesem": 0, "nächste": 1, "nächsten": 1,
    "nächster": 1, "nächstes": 1, "kommende": 1, "kommenden": 1,
}  # fmt: skip

_WEEKDAY_NAMES = (
    "monday montag lundi lunes 月曜日 月曜 星期一 周一 週一",
    "tuesday dienstag mardi martes 火曜日 火曜 星期二 周二 週二",
    "wednesday mittwoch mercredi miércoles 水曜日 水曜 星期三 周三 週三",
    "thursday donnerstag jeudi jueves 木曜日 木曜 星期四 周四 週四",
    "friday freitag vendredi viernes 金曜日 金曜 星期五 周五 週五",
    "saturday samstag sonnabend samedi sábado 土曜日 土曜 星期六 周六 週六",
    "sunday sonntag dimanche domingo 日曜日 日曜 星期日 星期天 周日 週日",
)
WEEKDAYS: Final = {
    name: number
    for number, names in enumerate(_WEEKDAY_NAMES)
    for name in names.split()
}  # fmt: skip

FEASTS: Final = {
    "new year's day": (1, 1), "new year\u2019s day": (1, 1), "neujahr": (1, 1), "le jour de l'an": (1, 1),
    "元旦": (1, 1),
    "valentine's day": (2, 14), "halloween": (10, 31), "christmas eve": (12, 24), "heiligabend": (12, 24),
    "heiligen abend": (12, 24), "nochebuena": (12, 24), "クリスマスイブ": (12, 24), "平安夜": (12, 24),
    "christmas": (12, 25), "weihnachten": (12, 25), "noël": (12, 25), "navidad": (12, 25), "クリスマス": (12, 25),
    "圣诞节": (12, 25), "圣诞": (12, 25), "聖誕節": (12, 25), "new year's eve": (12, 31),
    "new year\u2019s eve": (12, 31),
    "silvester": (12, 31), "nochevieja": (12, 31), "大晦日": (12, 31),
}  # fmt: skip
EASTER: Final = ("easter", "ostern", "pâques", "pascua", "復活祭", "イースター", "复活节")

IN: Final = (
    r"in|im|during|throughout|of|for|from|im jahre?|in the year|während|en|durant|pendant|durante|l'année|el año"
)
BETWEEN: Final = r"(?:between|zwischen|entre|from|von|vom|du|de|del|desde)(?:\s+(?:the|dem|le|el))?\s+$"
AND: Final = (
    r"\s*(?:and|to|until|till|through|und|bis(?:\s+zum)?|et|à|au|jusqu'au|y|a|al|hasta(?:\s+el)?|から|到|至|和|与|と|–|—|-|~|〜)"
    r"(?:\s+(?:the|dem|le|el))?\s*"
)
BEFORE: Final = r"(?:\bbefore|\bprior to|\bvor(?:\s+dem)?|\bavant(?:\s+le)?|\bantes de(?:l)?)(?:\s+(?:the|el))?\s+$"
UNTIL: Final = r"(?:\buntil|\btill|\bbis(?:\s+zum)?|\bjusqu'(?:en|au)|\bhasta(?:\s+el)?)\s+$"
AFTER: Final = r"(?:\bafter|\bnach(?:\s+dem)?|\baprès(?:\s+le)?|\bdespués de(?:l)?)(?:\s+(?:the|el))?\s+$"
SINCE: Final = r"(?:\bsince|\bseit(?:\s+dem)?|\bdepuis(?:\s+le)?|\bdesde(?:\s+el)?)\s+$"
AROUND: Final = (
    r"(?:\baround|\bround about|\babout|\bcirca|\bca\.|\bum(?:\s+den)?|\bungefähr(?:\s+am)?|\bgegen|\bvers(?:\s+le)?"
    r"|\baux alentours d[eu]|\balrededor de(?:l)?|\bhacia(?:\s+el)?|大约|大約|大概)(?:\s+the)?\s*$"
)
BEFORE_BEHIND: Final = r"^\s*(?:以前|より前|之前|の前)"
AFTER_BEHIND: Final = r"^\s*(?:以後|以降|之后|之後|以后|の後)"
SINCE_BEHIND: Final = r"^\s*(?:以来|以來|から今まで)"
AROUND_BEHIND: Final = r"^\s*(?:頃|ごろ|前後|あたり|左右|前后)"
OFFSET_BEFORE: Final = r"before|vor|avant|antes de(?:l)?"
OFFSET_AFTER: Final = r"after|nach|après|después de(?:l)?"
