"""The notebooks of docs/notebooks run from top to bottom, show what they show there, and their
pages are what they make.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pages import notebooks

pytestmark = pytest.mark.long

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"


def forms(outputs: list[dict[str, Any]]) -> list[set[str]]:
    """In what forms a cell shows something, whatever that is."""
    return [set(each.get("data", {"printed": None})) for each in outputs]


@pytest.mark.parametrize("name", notebooks.NAMES)
def test_a_notebook_runs_and_shows_what_it_showed(name: str, tmp_path: Path) -> None:
    notebook = notebooks.read(FOLDER / f"{name}.ipynb")
    for cell, shown in notebooks.run(notebook["cells"], tmp_path):
        assert forms(shown) == forms(cell["outputs"]), "".join(cell["source"])


@pytest.mark.parametrize("name", notebooks.NAMES)
def test_a_notebook_is_one_that_jupyter_opens_and_small(name: str) -> None:
    """Its form is that of nbformat 4.5, of which these are the parts that are not optional."""
    path = FOLDER / f"{name}.ipynb"
    notebook = notebooks.read(path)
    assert {"cells", "metadata", "nbformat", "nbformat_minor"} == set(notebook)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | code
    assert path.stat().st_size < 150_000


@pytest.mark.parametrize("name", notebooks.NAMES)
def test_the_page_of_a_notebook_is_up_to_date(name: str) -> None:
    notebook = notebooks.read(FOLDER / f"{name}.ipynb")
    assert (FOLDER / f"{name}.md").read_text(encoding="utf-8") == notebooks.page(name, notebook), "run make docs"
    stored = {each.name: each.read_bytes() for each in notebooks.stored(name)}
    assert stored == notebooks.pictures(name, notebook), "run make docs"


def test_what_a_cell_shows_is_what_jupyter_would(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "code", "source": ["print(1)\n", "x = 2\n", "x"]},
        {"cell_type": "code", "source": ["y = x"]},
    ]
    (_, (printed, value)), (_, nothing) = notebooks.run(cells, tmp_path)
    assert (printed["text"], value["data"], nothing) == (["1\n"], {"text/plain": ["2"]}, [])
