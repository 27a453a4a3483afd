"""The public names, pinned: adding or removing one is a decision, made here and in the
changelog.
"""

from importlib.metadata import version

import pytest

import shuffledp
from shuffledp import survey

EXPORTS = [
    "Accountant",
    "AllOf",
    "AnyDeletionLDP",
    "AnyLDP",
    "Audit",
    "BLH",
    "BallsAndBins",
    "Bound",
    "Calibration",
    "CheckIn",
    "Comparison",
    "DoesNotApply",
    "Estimate",
    "FiniteRandomizer",
    "FromMatrix",
    "Gaussian",
    "Hadamard",
    "InvalidInput",
    "KRR",
    "Laplace",
    "LocalHash",
    "OLH",
    "OUE",
    "OneOf",
    "Poll",
    "RAPPOR",
    "RR",
    "RandomAllocation",
    "Randomizer",
    "Release",
    "SampleAndThreshold",
    "Series",
    "ShuffledSGD",
    "ShuffledpError",
    "ShufflerDummies",
    "SignedUnits",
    "SplitShares",
    "SubsetSelection",
    "TreeDummies",
    "Unary",
    "UserFakes",
    "__version__",
    "audit",
    "calibrate",
    "calibrate_training",
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
    "shuffle_groups",
    "sum",
    "top",
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


def test_exports_are_pinned() -> None:
    assert sorted(shuffledp.__all__) == EXPORTS
    assert sorted(survey.__all__) == NETWORK


@pytest.mark.parametrize("name", EXPORTS)
def test_export_resolves(name: str) -> None:
    assert getattr(shuffledp, name) is not None


@pytest.mark.parametrize("name", NETWORK)
def test_export_of_the_network_resolves(name: str) -> None:
    assert getattr(survey, name).__name__ == name


def test_version_is_that_of_the_installed_package() -> None:
    assert shuffledp.__version__ == version("shuffledp")
