"""The public names, pinned: adding or removing one is a decision, made here and in the
changelog.
"""

import subprocess
import sys
from importlib.metadata import version

import pytest

import shuffledp
from shuffledp import survey

EXPORTS = [
    "Accountant",
    "AnyLDP",
    "Audit",
    "BLH",
    "Bound",
    "Comparison",
    "Design",
    "DoesNotApply",
    "Estimate",
    "FromMatrix",
    "Gaussian",
    "Hadamard",
    "InvalidInput",
    "KRR",
    "Laplace",
    "LocalHash",
    "Mechanism",
    "OLH",
    "OUE",
    "Poll",
    "Question",
    "RAPPOR",
    "RR",
    "Randomizer",
    "Record",
    "Release",
    "Series",
    "ShuffledpError",
    "SubsetSelection",
    "Unary",
    "__version__",
    "audit",
    "calibrate",
    "compare",
    "count",
    "crosstab",
    "engines",
    "histogram",
    "mean",
    "papers",
    "plan",
    "quantile",
    "shuffle",
    "sum",
    "top",
    "training",
]

NETWORK = [
    "Analyst",
    "AnalystKey",
    "Client",
    "Collection",
    "Envelopes",
    "Receipt",
    "open_collection",
    "read_collection",
]


def test_exports_are_pinned_and_a_module_shows_nothing_else() -> None:
    assert shuffledp.__all__ == dir(shuffledp) == EXPORTS
    assert survey.__all__ == dir(survey) == NETWORK


def test_a_misspelled_name_is_refused_with_the_right_one() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'shufle'\. Did you mean 'shuffle'"):
        shuffledp.shufle  # noqa: B018
    with pytest.raises(AttributeError, match=r"'shuffledp' has no attribute 'nothing_like_it'$"):
        shuffledp.nothing_like_it  # noqa: B018
    with pytest.raises(AttributeError, match="Did you mean 'CheckIn'"):
        shuffledp.randomizers.Checkin  # noqa: B018


def test_what_is_one_level_down_is_found_without_an_import() -> None:
    code = (
        "import shuffledp as sdp; print(sdp.randomizers.OneOf, sdp.accounting.shuffle_groups, sdp.training.ShuffledSGD)"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout.count(b"shuffledp.") == 2
    )


@pytest.mark.parametrize("name", EXPORTS)
def test_export_resolves(name: str) -> None:
    assert getattr(shuffledp, name) is not None


@pytest.mark.parametrize("name", NETWORK)
def test_export_of_the_network_resolves(name: str) -> None:
    assert getattr(survey, name).__name__ == name


def test_version_is_that_of_the_installed_package() -> None:
    assert shuffledp.__version__ == version("shuffledp")
