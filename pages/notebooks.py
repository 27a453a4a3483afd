"""The notebooks of docs/notebooks: run as Jupyter would, without Jupyter, and rendered as pages of
the site.

``python -m pages.notebooks`` runs them and stores what their cells show, which no other run shows
alike: the noise is drawn afresh. The pages follow from the notebooks alone.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["NAMES", "page", "pictures", "read", "run", "stored", "write_pages"]

FOLDER = Path("docs/notebooks")
NAMES = ("analyst", "researcher", "training")
DOWNLOAD = "*This page is a notebook: [download it]({name}.ipynb) and run it. Its numbers will differ a little, as the noise does.*"

PICTURES = {"image/svg+xml": "svg", "image/png": "png"}

Cell = dict[str, Any]
Output = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    """A notebook, as Jupyter stores it."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def run(cells: list[Cell], folder: Path) -> Iterator[tuple[Cell, list[Output]]]:
    """Run the cells with code in one namespace, in ``folder``, and say what each would show."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for cell in cells:
            if cell["cell_type"] == "code":
                yield cell, _shown("".join(cell["source"]), namespace)


def page(name: str, notebook: dict[str, Any]) -> str:
    """The notebook as Markdown; pictures are files beside it."""
    parts = []
    for number, cell in enumerate(notebook["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_rendered(each, f"{name}-{number}") for each in cell["outputs"]]
    return "\n\n".join([parts[0], DOWNLOAD.format(name=name), *parts[1:]]) + "\n"


def pictures(name: str, notebook: dict[str, Any]) -> dict[str, bytes]:
    """The files that the page shows."""
    return {
        f"{name}-{number}.{PICTURES[form]}": _content(stored)
        for number, cell in enumerate(notebook["cells"])
        for each in cell.get("outputs", [])
        for form, stored in each.get("data", {}).items()
        if form in PICTURES
    }


def _content(stored: str | list[str]) -> bytes:
    """The bytes of a picture: Jupyter stores text in lines, and all else in base 64."""
    return base64.b64decode(stored) if isinstance(stored, str) else "".join(stored).encode()


def _shown(source: str, namespace: dict[str, Any]) -> list[Output]:
    """Run one cell: what it prints, and the value of its last line, if that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), namespace)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), namespace)
    shown: list[Output] = []
    if text := printed.getvalue():
        shown.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        shown.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": _data(value)})
    return shown


def _data(value: object) -> dict[str, Any]:
    """What Jupyter would show of a value, in the best of its forms, and as text."""
    text: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    for form, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_"), ("image/png", "_repr_png_")):
        if (made := getattr(value, method, lambda: None)()) is not None:
            return {form: base64.b64encode(made).decode() if isinstance(made, bytes) else [str(made)]} | text
    return text


def _rendered(output: Output, picture: str) -> str:
    data = output.get("data", {})
    for form in PICTURES.keys() & data.keys():
        return f"![What the cell draws]({picture}.{PICTURES[form]})"
    if "text/html" in data:
        return "".join(data["text/html"])
    return "```text\n" + "".join(data.get("text/plain", output.get("text", []))).rstrip("\n") + "\n```"


def stored(name: str) -> list[Path]:
    """The pictures of a notebook that stand beside its page."""
    return [each for suffix in PICTURES.values() for each in FOLDER.glob(f"{name}-*.{suffix}")]


def write_pages() -> None:
    """The pages and pictures of the notebooks as they are."""
    for name in NAMES:
        notebook = read(FOLDER / f"{name}.ipynb")
        (FOLDER / f"{name}.md").write_text(page(name, notebook), encoding="utf-8")
        for each in stored(name):
            each.unlink()
        for file, content in pictures(name, notebook).items():
            (FOLDER / file).write_bytes(content)
        print(FOLDER / f"{name}.md")


def _store() -> None:
    for name in NAMES:
        path = (FOLDER / f"{name}.ipynb").resolve()
        notebook = read(path)
        with tempfile.TemporaryDirectory() as folder:
            for cell, shown in run(notebook["cells"], Path(folder)):
                cell["outputs"] = shown
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write_pages()


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    _store()
