"""Every law of several messages is written and read with its integers; bad ones are refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from shuffledp.errors import InvalidInput
from shuffledp.randomizers.law_file import from_law, law_of
from shuffledp.randomizers.messages import MessageLaw, ShufflerDummies, SignedUnits, SplitShares, TreeDummies, UserFakes
from tests.randomizers.messages import test_dummies as dummies
from tests.randomizers.messages import test_fakes as fakes
from tests.randomizers.messages import test_signed_units as signed
from tests.randomizers.messages import test_split_shares as split

OF_FAKES = ({"chance": 0.31}, {"slots": 0}, {"kind": "other"}, {"integers": ["1", "2"]}, {"epsilon0": 0.5})
OF_DUMMIES = ({"keep": 0.71}, {"kind": "binomial"}, {"center": 3, "rate": 0.0}, {"integers": []})
LAWS: dict[str, tuple[Callable[[], MessageLaw], int | None, tuple[dict[str, Any], ...]]] = {
    **{f"fakes, {name}": (law, None, OF_FAKES) for name, law in fakes.LAWS.items()},
    **{f"dummies, {name}": (law, None, OF_DUMMIES) for name, law in dummies.LAWS.items()},
    "tree": (lambda: dummies.tree(16, 2, 4), None, ({"integers": ["0", "1"]},)),
    "tree, poisson": (lambda: TreeDummies(k=9, levels=3, branches=2, kind="poisson", rate=12.5), None, ()),
    "signed": (lambda: signed.LAW, 5, ({"integers": [*law_of(signed.LAW)["integers"][:-1], "7"]},)),
    "split": (lambda: split.LAW, 3, ()),
}


@pytest.mark.parametrize("name", LAWS)
def test_it_is_written_down_and_read_again(name: str) -> None:
    make, integers, changes = LAWS[name]
    law = make()
    written = json.loads(json.dumps(law_of(law)))
    assert from_law(written) == law
    assert (written["epsilon0"] is None) == (law.epsilon0 == math.inf)
    assert integers in (None, len(written["integers"]))
    for change in changes:
        with pytest.raises(InvalidInput, match=written["type"] if name in ("tree", "signed") else None):
            from_law(written | change)


BASES: dict[type[MessageLaw], dict[str, Any]] = {
    UserFakes: {"k": 3, "slots": 1, "chance": 0.5},
    ShufflerDummies: {"k": 3, "center": 4, "left": 0.5, "right": 0.5},
    TreeDummies: {"k": 16, "levels": 2, "branches": 4, **dummies.NUMBERS},
    SignedUnits: {"honest": 10, "decay": 0.5, "pairs": 5, "messages": 8},
    SplitShares: {"k": 3, "honest": 10, "decay": 0.5, "share_bits": 20, "messages": 8, "reach": 50},
}
EMPTY = {"kind": "poisson", "center": 0, "left": 0.0, "right": 0.0}


@pytest.mark.parametrize(
    ("make", "wrong", "says"),
    [
        (UserFakes, {"k": 1}, "k must be"),
        (UserFakes, {"slots": 0}, "slots must be"),
        (UserFakes, {"slots": 5000}, "Ask about fewer values"),
        (UserFakes, {"chance": 0.0}, "chance must"),
        (UserFakes, {"chance": 1.5}, "chance must"),
        (UserFakes, {"chance": 1e-30}, "chance must be at least"),
        (UserFakes, {"chance": math.nan}, "chance must"),
        (UserFakes, {"epsilon0": -1.0}, "epsilon0 must"),
        (UserFakes, {"kind": "uniform"}, "kind of fakes must be bernoulli or poisson"),
        (ShufflerDummies, {"k": 1}, "k must be"),
        (ShufflerDummies, {"keep": 0.0}, "keep must"),
        (ShufflerDummies, {"keep": 1.1}, "keep must"),
        (ShufflerDummies, {"keep": 1e-30}, "keep must be at least"),
        (ShufflerDummies, {"left": 1.0}, "left must"),
        (ShufflerDummies, {"center": -1}, "center must be"),
        (ShufflerDummies, {"rate": 3.0}, "rate must be left out of geometric"),
        (ShufflerDummies, {"center": 0, "right": 0.0}, "dummies must be some"),
        (ShufflerDummies, {"kind": "poisson"}, "center must be left out of poisson"),
        (ShufflerDummies, EMPTY, "dummies must be some"),
        (ShufflerDummies, {**EMPTY, "rate": -1.0}, "rate must be at least 0"),
        (ShufflerDummies, {**EMPTY, "rate": 1e9}, "Allow a larger epsilon"),
        (ShufflerDummies, {"kind": "binomial"}, "kind of dummies must be"),
        (ShufflerDummies, {"right": 0.99999}, "Allow a larger epsilon"),
        (TreeDummies, {"levels": 0}, "levels must be"),
        (TreeDummies, {"levels": 17}, "levels must be at most 16"),
        (TreeDummies, {"branches": 1}, "branches must be"),
        (TreeDummies, {"levels": 3, "branches": 4}, "two nodes or more"),
        (TreeDummies, {"epsilon0": 1.0}, "epsilon0 must be left out"),
        (TreeDummies, {"rate": 2.0}, "rate must be left out"),
        (TreeDummies, {"center": 0, "right": 0.0}, "must be some"),
        (SignedUnits, {"messages": 1}, "messages"),
        (SignedUnits, {"pairs": -1}, "pairs"),
        (SignedUnits, {"honest": 0}, "honest"),
        (SignedUnits, {"decay": 0.0}, "decay"),
        (SignedUnits, {"decay": 90.0}, "decay"),
        (SignedUnits, {"k": 3}, "k"),
        (SignedUnits, {"epsilon0": 1.0}, "epsilon0"),
        (SplitShares, {"messages": 1}, "messages"),
        (SplitShares, {"share_bits": 53}, "share_bits"),
        (SplitShares, {"honest": 0}, "honest"),
        (SplitShares, {"decay": -1.0}, "decay"),
        (SplitShares, {"reach": 0}, "reach"),
        (SplitShares, {"k": 1}, "k"),
        (SplitShares, {"epsilon0": 2.0}, "epsilon0"),
    ],
)
def test_bad_parameters_are_refused(make: type[MessageLaw], wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        make(**BASES[make] | wrong)
