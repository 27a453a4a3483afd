"""Write the computed pages: ``python -m pages``, after ``shuffledp reproduce --all --out
docs/figures``.
"""

from pathlib import Path

from pages import choosing, gallery, notebooks, prose, swap
from shuffledp.papers import errata

DOCS = Path("docs")

for name, text in (
    ("errata", errata.page()),
    ("choosing-a-bound", choosing.page()),
    ("gallery", gallery.page(DOCS / "figures")),
    ("first-clone-swap", swap.page(DOCS)),
    *((name, prose.page(DOCS, name)) for name in prose.PAGES),
):
    (DOCS / f"{name}.md").write_text(text, encoding="utf-8")
    print(f"docs/{name}.md")
notebooks.write_pages()
