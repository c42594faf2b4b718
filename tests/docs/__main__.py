"""``python -m tests.docs`` writes the reference pages anew."""

from tests.docs import FILES, GENERATED, LICENCES, PAGES, licences

for path, page in {**PAGES, LICENCES: licences.page}.items():
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(GENERATED + page(), "utf-8")
    print(path)
for path, text in FILES.items():
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(), "utf-8")
    print(path)
