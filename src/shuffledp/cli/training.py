"""The command training: which sampler should a training use, and how much noise does it need."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shuffledp.cli import show
from shuffledp.cli.app import command
from shuffledp.cli.options import JSON, PLOT, QUESTION, option, read_count, read_number
from shuffledp.cli.show import counted, patiently
from shuffledp.errors import InvalidInput, check_delta
from shuffledp.wording import rounded, statement

if TYPE_CHECKING:
    from shuffledp.accounting.calibration import Calibration
    from shuffledp.training.samplers import Sampler

RUN = "The training"
SETTING = statement("add or remove")
LIMITS = {
    "sigma": "at least: less noise would miss the target",
    "steps": "at least: fewer would miss the target",
    "epochs": "at most: one more would miss the target",
}
EXAMPLES = {"sigma": "1", "steps": "1000", "epochs": "10"}


@command(
    "training",
    "--sigma 1 --steps 1000 --epochs 10 --delta 1e-6",
    "--sigma 1 --steps 1000 --delta 1e-6 --plot samplers.png",
    "--steps 1000 --epochs 10 --epsilon 1 --delta 1e-6",
    options=[
        option("delta", QUESTION, "Delta to allow, well below one over the records.", read_number, default=...),
        option("sigma", RUN, "The Gaussian noise of a step, in units of the clipping norm.", read_number),
        option("steps", RUN, "The steps of one epoch: records over batch size.", read_count),
        option("epochs", RUN, "The passes over the data; if left out, one.", read_count),
        option("epsilon", QUESTION, "Target, to solve for what is left out.", read_number),
        PLOT,
        JSON,
    ],
)
def training(
    delta: float,
    sigma: float | None,
    steps: int | None,
    epochs: int | None,
    epsilon: float | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Which sampler should my training use? Random allocation, Poisson sampling, shuffled batches
    and full batches, with the same noise and the same steps, for adding or removing one record.

    With --epsilon it answers for random allocation alone, and solves for the
    one of --sigma, --steps and --epochs that is left out.
    """
    from shuffledp.figures import check_figure, samplers_figure
    from shuffledp.training.allocation import check_epochs, check_steps
    from shuffledp.training.calibration import calibrate_training
    from shuffledp.training.samplers import samplers
    from shuffledp.training.step_pairs import GaussianStep

    check_delta(delta)
    if plot is not None:
        check_figure(plot)
    if epsilon is not None:
        if plot is not None:
            raise InvalidInput("--plot must be left out with --epsilon, got both. The figure compares samplers.")
        if sigma is None or steps is None:
            epochs = 1 if epochs is None else epochs
        with patiently("solving"):
            found = calibrate_training(epsilon=epsilon, delta=delta, sigma=sigma, steps=steps, epochs=epochs)
        return _solved(found, epsilon, delta, as_json=as_json)
    missing = [name for name, value in (("sigma", sigma), ("steps", steps)) if value is None]
    if missing:
        needed = " and ".join(f"--{name}" for name in missing)
        added = " ".join(f"--{name} {EXAMPLES[name]}" for name in missing)
        raise InvalidInput(f"{needed} must be given to compare samplers, got none. Add, for example, {added}.")
    assert sigma is not None
    noise, count, passes = GaussianStep(sigma).sigma, check_steps(steps), check_epochs(1 if epochs is None else epochs)
    with counted("accounting for every sampler") as tick:
        rows = samplers(sigma=noise, steps=count, delta=delta, epochs=passes, tick=tick)
    facts = {"sigma": noise, "steps": count, "epochs": passes, "delta": delta}
    title = f"sigma = {noise:.6g}; {count:,} step{'s' * (count > 1)}; {passes:,} epoch{'s' * (passes > 1)}"
    if plot is not None:
        samplers_figure(rows, plot, title=f"{title}; delta = {show.exactly(delta)}")
    if as_json:
        files = {} if plot is None else {"plot": str(plot)}
        return show.as_json(facts | {"samplers": [_facts(each) for each in rows], "assumptions": [SETTING]} | files)
    show.answer(f"{title}; epsilon at delta = {show.exactly(delta)}", [], [])
    show.table(
        ["at least", "at most", "sampler", "batches"],
        [
            (rounded(each.epsilon.lower, up=False), rounded(each.epsilon.upper, up=True), each.name, each.batches)
            for each in rows
        ],
        numbers=2,
    )
    show.sentences(
        [
            f"\nIt holds for {SETTING}.",
            "The noise of a step and the number of steps are the same in every row; full batches are larger, and would "
            "do with more noise.",
        ]
    )
    return show.written(figure=plot)


def _facts(each: Sampler) -> dict[str, object]:
    ends = {"lower": each.epsilon.lower, "upper": each.epsilon.upper, "method": each.epsilon.method}
    return {"name": each.name, "batches": each.batches} | ends


def _solved(found: Calibration, epsilon: float, delta: float, *, as_json: bool) -> None:
    if as_json:
        facts = {found.unknown: found.value, "solved_for": found.unknown, "reached_epsilon": found.epsilon}
        why = {"method": found.guarantee.method, "assumptions": list(found.guarantee.assumptions)}
        return show.as_json(facts | {"epsilon": epsilon, "delta": delta} | why)
    value = f"{found.value:,}" if isinstance(found.value, int) else show.short(found.value)
    reached = f"reached at delta = {show.exactly(delta)}; the target is {show.short(epsilon)}"
    rows = [(found.unknown, value, LIMITS[found.unknown]), ("epsilon", rounded(found.epsilon, up=True), reached)]
    words = [f"Proof: {found.guarantee.method}.", f"It holds for {SETTING}."]
    return show.answer(found.guarantee.describe(), rows, words)
