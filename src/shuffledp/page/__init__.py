"""The page: one HTML file without scripts or network. It shows the record of a release, and nothing
that is not in it.

page       templates filled in from a record; ``page.html`` is the frame, and its sections
           stand next to it
drawings   the figures of a release
facts      the estimates as rows of words, and what else templates put into words
sentences  how far false reports reach, as the terminal says it, too
charts     figures as SVG that keeps its type size on every screen; also the weeks of a series
svg        axes, ticks and shapes, all escaped, and a figure alone, for a notebook or a file

Templates escape everything. Python prepares numbers and facts, and templates say the sentences. To
add a question, write ``questions/<name>/section.html``; ``values.html`` has what it need not say.
"""

from shuffledp.page.page import html, plain, release_svg, unchanged

__all__ = ["html", "plain", "release_svg", "unchanged"]
