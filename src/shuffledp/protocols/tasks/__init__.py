"""What can be asked: each task with its own fields, and all that other packages want to know of it.

task            what all of them say, and the registry
counting_tasks  histogram
count_task      count
mean_task       mean
sum_task        sum
crosstab_task   crosstab
crossing        several columns as one: cells, their sums, and what they are called
quantile_task   quantile
top_task        top

A task is plain data, and says nothing of privacy. To add one, write a frozen dataclass of ``Task``
and ``register`` it; the protocol that answers it is registered in ``protocols.settling``. That is
enough for designs, clients and shufflers, and, if it derives from a task that is here, for record,
page and verify (``by_task``). One of a kind of its own needs a module in ``page`` and in
``release.by_task``, and a class in ``verify.answers``; to be planned and asked by name it needs
``protocols.planning``, ``release`` and ``cli.questions``.
"""

from shuffledp.protocols.tasks.count_task import CountTask
from shuffledp.protocols.tasks.counting_tasks import CountingTask, HistogramTask
from shuffledp.protocols.tasks.crosstab_task import CrosstabTask
from shuffledp.protocols.tasks.mean_task import MeanTask
from shuffledp.protocols.tasks.quantile_task import QuantileTask
from shuffledp.protocols.tasks.sum_task import SumTask
from shuffledp.protocols.tasks.task import ENCODINGS, REMEDY, TASKS, Label, Task, by_task, register, task_named
from shuffledp.protocols.tasks.top_task import TopTask

__all__ = [
    "ENCODINGS",
    "REMEDY",
    "TASKS",
    "CountTask",
    "CountingTask",
    "CrosstabTask",
    "HistogramTask",
    "Label",
    "MeanTask",
    "QuantileTask",
    "SumTask",
    "Task",
    "TopTask",
    "by_task",
    "register",
    "task_named",
]
