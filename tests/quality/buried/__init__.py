"""Judged queries for one sentence buried in a long note.

`rules.jsonl` holds 120 rules by hand, five for each of 24 topics, every one with a query that asks for it in other
words. `build.py` writes a note of 2,000 to 5,000 words around each rule from the topic's own vocabulary
(`vocabulary/*.toml`), the rule in a paragraph between 30 % and 70 % of the way down. The text around it tells small
stories without figures or rules, so that it answers nothing, but it is of the same topic, and four other notes are too.

Judged by construction: the only relevant note of a query is the one that holds its rule, with grade 1. Rules and
queries were written as pairs, before any search had been run, the query sharing next to no content word with its rule
and none with the note's title.
"""
