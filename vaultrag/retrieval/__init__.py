"""From a query to ranked hits: parser, retrievers' results, score, tiers, previews. No clock, no file, no database."""
