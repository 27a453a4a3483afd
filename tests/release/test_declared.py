"""An option is declared once: flag, keyword, help and refusal come from the same place."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from typer.main import get_command

import shuffledp as sdp
from shuffledp.cli.app import app, load
from shuffledp.domain import ENCODINGS, NAMING
from shuffledp.errors import InvalidInput, spelled
from shuffledp.questions import kind_of, options_of_all
from shuffledp.release.options import options_of
from tests.cli.people import run

QUESTIONS = options_of_all()
ONLY_TYPED = {"source", "column", "engine", "work", "out", "force", "dry_run", "as_json"}
ONLY_PYTHON = {"data", "columns", "column", "rng"}


@pytest.mark.parametrize("name", QUESTIONS)
def test_python_and_the_command_take_what_is_declared(name: str) -> None:
    declared = options_of(QUESTIONS[name])
    call = getattr(sdp, name)
    shown = inspect.signature(call).parameters
    assert shown.keys() - ONLY_PYTHON == declared.keys()
    for each in declared.values():
        keyword = shown[each.name]
        assert keyword.kind is inspect.Parameter.KEYWORD_ONLY
        assert (keyword.annotation, keyword.default) == (
            each.type,
            inspect.Parameter.empty if each.required else each.default,
        )
        assert f"\n    {each.name}: " in inspect.getdoc(call)  # type: ignore[operator]
    load(name)
    typed = {each.name: each for each in get_command(app).commands[name].params}  # type: ignore[attr-defined]
    assert typed.keys() - ONLY_TYPED == {each.name for each in declared.values() if not each.keyword}
    for flag, option in typed.items():
        if flag in declared:
            assert option.help.partition(r" \[default: ")[0] == spelled(declared[flag].words, typed=True)
            assert option.required == declared[flag].required


@pytest.mark.parametrize("name", [name for name in QUESTIONS if "mechanism" in options_of(QUESTIONS[name])])
def test_the_help_names_the_mechanisms_that_a_question_takes(name: str) -> None:
    declared, choices = options_of(QUESTIONS[name])["mechanism"], kind_of(name).choices
    named = set(re.findall(r"\w+", spelled(declared.words))) & {*NAMING, *ENCODINGS}
    assert (named, declared.default) == (set(choices), choices[0])


def test_noise_that_is_given_twice_is_refused_before_what_it_lacks() -> None:
    with pytest.raises(InvalidInput, match="exactly one of epsilon, gamma and epsilon0 must be given, got gamma and"):
        sdp.mean([1.0], lower=0, upper=2, gamma=0.2, epsilon0=1.0, delta=1e-4)


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_is_missing_or_unknown_is_pythons_own_error(name: str) -> None:
    call: Any = getattr(sdp, name)
    with pytest.raises(TypeError, match=rf"{name}\(\): missing a required argument: '"):
        call([1, 2])
    needed = {each.name: 1 for each in options_of(QUESTIONS[name]).values() if each.required}
    columns = {"columns": []} if name == "crosstab" else {}
    with pytest.raises(TypeError, match=rf"{name}\(\): got an unexpected keyword argument 'leest'"):
        call([1, 2], leest=3, **columns, **needed)


def test_an_option_of_another_question_is_refused_by_name() -> None:
    asked = ("--n", 10, "--epsilon", 1, "--delta", 1e-6, "--out", "x")
    run("stage", "design", "mean", "--lower", 0, "--upper", 1, "--bins", 5, *asked).refused(
        "mean takes no --bins. It is for quantile. Leave out --bins."
    )
    run("stage", "design", "top", "--gamma", 0.1, *asked).refused("It is for histogram, mean, sum.")
