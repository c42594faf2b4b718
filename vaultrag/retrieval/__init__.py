"""Pure rules of finding: the query language, fusion, evidence, previews. No clock, no file, no database."""
