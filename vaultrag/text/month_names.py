"""Names of months in the languages of the interface words, long and short, lower case."""

from __future__ import annotations

_NAMES = """
january jan januar jänner janvier janv enero ene
february feb februar februar feber février févr fevrier febrero
march mar märz mrz maerz mars marzo
april apr avril avr abril abr
may mai mayo
june jun juni juin junio
july jul juli juil juillet julio
august aug août aout agosto ago
september sept sep septembre septiembre setiembre
october oct oktober okt octobre octubre
november nov novembre noviembre
december dec dezember dez décembre déc decembre diciembre dic
"""

MONTHS = {name: number for number, names in enumerate(_NAMES.strip().splitlines(), start=1) for name in names.split()}
