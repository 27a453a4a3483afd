"""Again next week: one design, asked every week, paid for in advance.

tracking     ``sdp.Series``
series_file  what a series is: its name, its design, where it was paid for, its periods
weeks        the weeks that stand, and the next one: each is released once
pausing      what was spent so far, and what a pause would buy
trend        the estimates of all weeks, and how they change, with intervals
trend_page   all of it on one HTML page
checking     what ``verify FOLDER`` does: every week, all weeks together, and the page

A folder holds ``series.json``, which never changes, and ``weeks/001`` and so on, each a release
like any other. What was released is read from there; the page and the table of the trend are made
of it, and can be made again.
"""
