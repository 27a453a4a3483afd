"""The unknown of a training: least noise, fewest steps or most epochs for a target."""

from __future__ import annotations

import math
from dataclasses import replace

from shuffledp.accounting.calibration import ROUNDS, USERS, Calibration, Scale, Search, deviation
from shuffledp.errors import InvalidInput, check_epsilon, check_promised
from shuffledp.randomizers.gaussian import BY_SIGMA
from shuffledp.training import RandomAllocation
from shuffledp.training.allocation import MOST_STEPS, check_epochs, check_participations, check_steps
from shuffledp.training.step_pairs import GaussianStep

RISKIEST_SIGMA = 0.05

SIGMA = replace(Scale.of(BY_SIGMA), risky=RISKIEST_SIGMA, remedy="Use more steps or fewer epochs.")
STEPS = replace(USERS, name="steps", safe=float(MOST_STEPS), remedy="Use more noise or fewer epochs.")
EPOCHS = replace(ROUNDS, name="epochs", remedy="Use more noise or more steps.")


def calibrate_training(
    *,
    epsilon: float,
    delta: float,
    sigma: float | None = None,
    steps: int | None = None,
    epochs: int | None = None,
    participations: int = 1,
) -> Calibration:
    """Solve for what is left out of sigma, steps and epochs, so that the *upper* end of the random
    allocation meets (epsilon, delta). The answer is checked before it is returned.

    >>> plan = calibrate_training(epsilon=1.0, delta=1e-6, steps=1000, epochs=1)
    >>> plan.unknown, round(plan.value, 2)
    ('sigma', 0.69)
    """
    target, delta = check_epsilon(epsilon), check_promised(delta)
    if target == 0.0:
        raise InvalidInput("epsilon must be positive to calibrate for, got 0.0. Allow a little.")
    missing = [name for name, value in (("sigma", sigma), ("steps", steps), ("epochs", epochs)) if value is None]
    if len(missing) != 1:
        found = " and ".join(missing) if missing else "none"
        raise InvalidInput(
            f"exactly one of sigma, steps and epochs must be left out, got {found}. Leave out the one you want to know."
        )
    size = deviation(target, delta)
    if sigma is None:
        count, passes = check_steps(steps), check_epochs(epochs)
        often = check_participations(participations, count)
        start = SIGMA.value(math.log(size * math.sqrt(count / passes) / often))

        def with_noise(value: float) -> RandomAllocation:
            return RandomAllocation(sigma=value, steps=count, epochs=passes, participations=often)

        return Search(SIGMA, with_noise, target, delta).answer(start)
    loss = math.exp(2.0 * min(BY_SIGMA.loss(min(max(GaussianStep(sigma).sigma, RISKIEST_SIGMA), 1e6)), 99.0))
    if steps is None:
        often = check_participations(participations, MOST_STEPS)
        passes = check_epochs(epochs)

        def with_steps(value: float) -> RandomAllocation:
            return RandomAllocation(sigma=sigma, steps=max(int(value), often), epochs=passes, participations=often)

        return Search(STEPS, with_steps, target, delta).answer(max(passes * often**2 * loss / size**2, 1.0))
    once = RandomAllocation(sigma=sigma, steps=steps, participations=participations)
    return Search(EPOCHS, lambda value: once.compose(int(value)), target, delta).answer(1.0)
