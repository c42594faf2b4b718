"""A judged set over notes of an invented place, asked as somebody who knows it asks."""
