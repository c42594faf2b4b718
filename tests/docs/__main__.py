"""``python -m tests.docs`` writes the reference pages anew."""

from tests.docs import GENERATED, PAGES

for path, page in PAGES.items():
    path.write_text(GENERATED + page(), "utf-8")
    print(path)
