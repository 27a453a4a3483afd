"""What a rebuild must not change, as values: inputs and outputs in JSON, one design per line.

asked      from a plain description of a question, a mechanism or a target to today's objects: all
           that the four files of numbers need; ``test_kept``, ``test_names`` and the list of exact
           laws in ``test_estimates`` name today's objects themselves
pinned     the files: read, written again, compared
surfaces   what commands show and accept
kept       files that were written once, and are read again

``python -m tests.pins`` says what differs; ``--write`` computes all outputs again from the inputs
in the files. A pin that changes on purpose changes in a commit of its own that says why.
"""
