"""From a query to hits: the arms, their fusion, what counts as proof, and the preview of what is shown."""
