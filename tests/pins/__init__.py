"""What a rebuild must not change, as values: inputs and outputs in JSON, one design per line.

asked      from a plain description of a question, a mechanism or a target to today's objects; the
           only module here that knows their names
pinned     the files: read, written again, compared

``python -m tests.pins`` says what differs; ``--write`` computes all outputs again from the inputs
in the files. A pin that changes on purpose changes in a commit of its own that says why.
"""
