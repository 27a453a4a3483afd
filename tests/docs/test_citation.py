"""CITATION.cff cites this version, under the licence that it has."""

import tomllib
from pathlib import Path

import yaml

import shuffledp
from shuffledp.papers import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_is_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert (cited["version"], cited["license"]) == (shuffledp.__version__, project["license"])
    assert cited["keywords"] == project["keywords"]
    assert all(paper["title"] and paper["authors"] and paper["year"] for paper in cited["references"])


def test_every_paper_of_the_gallery_is_cited() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    first = {paper["authors"][0].get("family-names", "this package") for paper in cited["references"]}
    assert {experiment.paper.split()[0].rstrip(",").capitalize() for experiment in EXPERIMENTS} - {"This"} <= first
