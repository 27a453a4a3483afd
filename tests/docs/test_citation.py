"""CITATION.cff cites this version, under the license that it has; it and README cite the four papers."""

import tomllib
from pathlib import Path

import yaml

import shuffledp
from shuffledp.papers import FOUR

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert (cited["version"], cited["license"]) == (shuffledp.__version__, project["license"])
    assert cited["keywords"] == project["keywords"]
    assert all(paper["title"] and paper["authors"] and paper["year"] for paper in cited["references"])


def test_the_four_papers_are_cited() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    titles = {
        paper["title"]: paper["identifiers"][0]["value"] for paper in cited["references"] if "identifiers" in paper
    }
    for paper in FOUR:
        assert paper.link.rpartition("/")[2] == titles[paper.title].removeprefix("arXiv:")


def test_the_first_screen_of_the_readme_names_the_four_papers() -> None:
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:20])
    for paper in FOUR:
        name = f"{paper.name.partition('-')[0].capitalize()} et al. {paper.year}"
        assert f"[{name}](docs/papers/{paper.name}.md)" in first
        assert (ROOT / "docs" / "papers" / f"{paper.name}.md").is_file()
    assert all(word in first for word in ("blanket", "clones", "Fourier", "k-ary randomized response"))
