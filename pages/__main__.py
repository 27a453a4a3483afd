"""Write the computed pages: ``python -m pages``, after ``shuffledp papers reproduce --all --out
docs/figures``.
"""

from pathlib import Path

from pages import choosing, notebooks, papers, prose, swap
from shuffledp.papers import FOUR

DOCS = Path("docs")
FIGURES = DOCS / "figures"

for name, text in (
    ("choosing-a-bound", choosing.page()),
    ("papers/index", papers.index(FIGURES)),
    *((f"papers/{paper.name}", papers.page(paper, FIGURES)) for paper in FOUR),
    ("first-clone-swap", swap.page(DOCS)),
    *((name, prose.page(DOCS, name)) for name in prose.PAGES),
):
    (DOCS / f"{name}.md").write_text(text, encoding="utf-8")
    print(f"docs/{name}.md")
notebooks.write_pages()
