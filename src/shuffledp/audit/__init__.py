"""Attacks on a running protocol: an empirical lower bound on epsilon, to hold against the certified upper end.

reading   what an attacker makes of one report: a class, and the accounted law of the classes
subject   what is attacked: a protocol, or a randomizer behind a shuffler, run many times on two neighbouring datasets
attack    likelihood-ratio and position tests, thresholds chosen on one half of the runs, Clopper-Pearson on the other
checks    is the law the accounted one, are users independent, are runs
run       ``audit`` and its answer, ``Audit``
faults    planted faults that an audit must catch, and ``faults()``, the table of them
"""

from __future__ import annotations

from shuffledp.audit.checks import Check
from shuffledp.audit.faults import FAULTS, Fault, faults
from shuffledp.audit.run import Audit, audit
from shuffledp.audit.subject import Subject, subject_of

__all__ = ["FAULTS", "Audit", "Check", "Fault", "Subject", "audit", "faults", "subject_of"]
