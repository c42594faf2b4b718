# ruff: noqa: E501 - texts and questions, a line each
"""The attachments of the sample vault: what is in them, and sixty questions whose answers lie there.

``python -m tests.quality.file_vault`` writes the files into ``sample-vault/Attachments``. All of it is invented.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.support import documents

FOLDER = Path(__file__).parents[2] / "sample-vault" / "Attachments"

BOOSTER = [
    "Booster station Weinberg: commissioning report. Three Kolbe VM 45 pumps stand in parallel on a common base frame.",
    "Two run, the third is the stand-by, and the controller changes the order every Monday at six in the morning.",
    "The set point is 5.2 bar at the outlet. Below 4.1 bar for longer than thirty seconds the stand-by pump starts.",
    "During the first hour the expansion vessel lost its gas charge. The membrane had a crease from transport and was exchanged.",
    "Noise at the nearest house, measured on the terrace at night, was 31 decibels with two pumps running.",
    "The check valve of pump two hammered when it closed. A spring of the next class made it close without a sound.",
    "Acceptance: the district's inspector asked for a second sampling tap behind the filter, to be there before the winter.",
    "Spare parts on the shelf: one set of mechanical seals, two pressure transmitters, one membrane for the vessel.",
]
CERTIFICATE = [
    ["PRESSURE TEST CERTIFICATE", "", "Section: Muehlgasse to Bahnhofstrasse", "Pipe: ductile iron DN 150, 412 metres",
     "Test pressure 15 bar, held for three hours", "Loss of water 0.9 litres, permitted 2.1 litres",
     "Result: passed"],
    ["Remarks", "", "One flange at hydrant 88 wept and was retightened", "Disinfected with hydrogen peroxide on the next day",
     "Released for drinking water after two samples"],
]  # fmt: skip
ALARMS = [
    "Alarm list   Control room 2   14 Aug", "03:12  Reservoir level low  Hochbehaelter Nord",
    "03:14  Telemetry lost  Well 4  code E_LINK_71", "03:40  Chlorine above limit  0.34 mg/l",
    "04:05  Acknowledged by night shift",
]  # fmt: skip
PLAN = [
    {"type": "group", "label": "Before the digger comes", "x": 0, "y": 0, "width": 900, "height": 500},
    {
        "type": "text",
        "text": "Ask the gas company for their plans; their line lies 40 cm beside ours",
        "x": 20,
        "y": 20,
    },
    {"type": "text", "text": "Tell the bakery: no water from five to nine", "x": 20, "y": 200},
    {"type": "group", "label": "In the trench", "x": 1000, "y": 0, "width": 900, "height": 500},
    {"type": "text", "text": "Cut out two metres, the old lead joint goes to the museum", "x": 1020, "y": 20},
    {"type": "text", "text": "Repair with two couplings of the long type", "x": 1020, "y": 200},
    {"type": "file", "file": "Reference/Supplier list.md", "x": 0, "y": 700},
]
BASE = """filters:
  and:
    - file.inFolder("Reference")
formulas:
  months_left: (next_order - now()) / 30
views:
  - type: table
    name: Parts to be ordered before the frost
    order: [file.name, shelf, months_left]
  - type: cards
    name: Obsolete gaskets
"""
SLIDES = [
    ("Flushing campaign in spring", "One district a week, from the wells outwards\nTwo crews, at night"),
    ("What we tell people", "Brown water is harmless iron\nRun the tap until it is clear; no laundry that morning"),
    ("How fast", "At least 1.5 metres a second in the pipe\nThree times the volume of the section"),
    ("What it costs", "9,300 cubic metres of water\nOvertime of 220 hours"),
    ("What went wrong last year", "A hydrant at the school could not be closed\nThe fire brigade had not been told"),
]
ENERGY = [
    ["Pump", "Energy kWh", "Water m3", "kWh per m3", "Remark"],
    ["Well 1", 48200, 131000, 0.368, "impeller worn"], ["Well 2", 39100, 128500, 0.304, "new in 2022"],
    ["Well 4", 51900, 120300, 0.431, "throttled, to be examined"], ["Weinberg booster", 12800, 40100, 0.319, None],
]  # fmt: skip
TARIFF = [["Year", "Cent per kWh"], [2022, 18.4], [2023, 31.9], [2024, 26.2]]
LETTER: list[str | tuple[str, str]] = [
    ("Heading 1", "Request to widen the protection zone of Well 4"),
    "The well draws from gravel that is covered by less than two metres of clay. Nitrate has risen from 21 to 34 milligrams.",
    "We ask that slurry be spread no nearer than 300 metres, and not at all between October and February.",
    "The farmer, Mr Dornbusch, agrees if he is paid 410 euros a hectare for what he loses.",
    ("Heading 1", "What we offer"),
    "The municipality pays for a monitoring well between the field and ours, and publishes the readings every quarter.",
]
HISTORY = [
    (
        "<h1>The fountain years</h1><p>Until 1868 Kellbrück drank from eleven fountains. The cholera of that summer"
        " killed 73 people in the lower town, where the tanners' pits lay above the spring.</p>"
    ),
    (
        "<h1>The first main</h1><p>In 1871 the engineer Albrecht Sommer laid a main of cast iron from the hill. The"
        " council had wanted wood, which was cheaper; he threatened to leave.</p><p>The first steam pump was called"
        " Berta.</p>"
    ),
    (
        "<h1>War and drought</h1><p>In 1945 a bomb cut the main twice. Women carried water from the river in milk churns"
        " for nineteen days. The drought of 1976 emptied the upper reservoir.</p>"
    ),
]
OFFER = (
    "Dear Ms Hallberg,\n\nthank you for your enquiry. We offer four amperometric chlorine sensors, type Aquasens C3, at 640"
    " euros each, with a membrane cap that lasts eighteen months. Delivery in five weeks. The mounting set is free if you"
    " order before the end of the quarter.\n\nThe offer holds for sixty days.\n"
)
ROUTINE = """<html><head><title>How we exercise valves</title></head><body><h1>Valve exercise</h1>
<p>Every gate valve is turned once in two years, closed by three quarters and opened again, never to the stop.</p>
<h2>What to write down</h2><ul><li>number of turns</li><li>how stiff it was, from 1 to 5</li><li>whether the cap was missing</li></ul>
<h2>When one does not move</h2><p>Never use the long key with two men. Warm the spindle with hot water, wait a day, try again;
then mark it blue on the map.</p></body></html>
"""
CODES = """How to change the codes of the gates
1. Only the shift leader changes them, on the first of January and when somebody leaves.
2. The new code is told by telephone, never by mail.
3. The old keypad at the sand filter resets itself after a power cut: its code is then the one of the factory.
4. The envelope for the fire brigade lies in the safe of the town hall.
"""
GARDEN = """#+TITLE: Irrigation of the allotment
* Drip lines :garden:
The drippers give two litres an hour; the tomatoes get forty minutes at dawn.
* TODO Before the frost
Empty the lines with the small compressor, open the valve at the lowest point.
* Rain barrel
The overflow leads into the pond of the neighbour, Mrs Petri, who asked for it.
"""

FILES: Mapping[str, bytes] = {
    "Booster station commissioning.pdf": documents.pdf_of_columns(BOOSTER),
    "Pressure test certificate.pdf": documents.scan(*CERTIFICATE, dpi=150),
    "Alarm list.png": documents.picture(ALARMS, size=22, dark=True),
    "Leak repair.canvas": documents.canvas_of(PLAN),
    "Spare parts.base": BASE.encode(),
    "Flushing campaign.pptx": documents.slides(*SLIDES),
    "Pump energy.xlsx": documents.sheet(Wells=ENERGY, Tariff=TARIFF),
    "Protection zone.docx": documents.word(*LETTER),
    "Short history of the waterworks.epub": documents.epub("A short history of the Kellbrück waterworks", *HISTORY),
    "Offer chlorine sensors.eml": documents.mail("Our offer: chlorine sensors", OFFER),
    "Valve exercise.html": ROUTINE.encode(),
    "gate codes.txt": CODES.encode(),
    "allotment.org": GARDEN.encode(),
}

QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "Booster station commissioning.pdf": (
        "when does the third pump at Weinberg start by itself", "what pressure does the booster station keep",
        "why did the expansion vessel lose its gas", "how loud is the booster station at the neighbours' terrace at night",
        "what did the inspector demand before winter", "how was the hammering check valve cured",
        "on which day do the booster pumps swap their order",
    ),
    "Pressure test certificate.pdf": (
        "pressure test of the pipe in Mühlgasse", "how many litres were lost in the pressure test",
        "which hydrant's flange had to be tightened after the test", "ductile iron DN 150 412 metres",
    ),
    "Alarm list.png": (
        "E_LINK_71", "telemetry of well 4 was lost in the night", "alarm chlorine above limit 0.34", "who acknowledged the alarms",
    ),
    "Leak repair.canvas": (
        "how far is the gas line from ours", "who must be told that there is no water from five to nine",
        "what happens to the old lead joint", "couplings of the long type",
    ),
    "Spare parts.base": ("table of parts to be ordered before the frost", "obsolete gaskets"),
    "Flushing campaign.pptx": (
        "how fast must the water run when mains are flushed", "is brown water harmful", "how much water does the flushing take",
        "which hydrant could not be closed last year", "laundry during the flushing", "overtime hours of the flushing",
    ),
    "Pump energy.xlsx": (
        "which well uses the most energy per cubic metre", "worn impeller well 1", "electricity price in 2023 cent per kWh",
        "energy of the Weinberg booster",
    ),
    "Protection zone.docx": (
        "how near to the well may slurry be spread", "what does farmer Dornbusch want per hectare",
        "how thick is the clay over the gravel", "nitrate has risen to 34 milligrams", "who pays for the monitoring well",
        "in which months is no slurry allowed",
    ),
    "Short history of the waterworks.epub": (
        "how many people died of cholera", "who laid the first cast iron main", "what was the first steam pump called",
        "water carried in milk churns", "which drought emptied the upper reservoir", "how many fountains did the town have",
        "why did the engineer threaten to leave",
    ),
    "Offer chlorine sensors.eml": (
        "price of one chlorine sensor", "how long does the membrane cap last", "how long does the sensor offer hold",
        "delivery time of the Aquasens C3",
    ),
    "Valve exercise.html": (
        "how often is a gate valve turned", "what to do when a valve does not move", "what is written down when valves are exercised",
        "which colour marks a stuck valve on the map",
    ),
    "gate codes.txt": (
        "who may change the gate codes", "what happens to the keypad at the sand filter after a power cut",
        "where is the fire brigade's envelope", "how is a new code told",
    ),
    "allotment.org": (
        "how long are the tomatoes watered", "how to empty the drip lines before frost",
        "where does the overflow of the rain barrel go", "litres an hour of a dripper",
    ),
}  # fmt: skip


def write(folder: Path = FOLDER) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in FILES.items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    write()
