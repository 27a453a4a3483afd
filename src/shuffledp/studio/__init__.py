"""The planner: a page on this machine that asks the accountant while somebody moves a slider.

request  what the page asks, checked; and the same as commands to type
answer   from a request to what the page shows, in parts: the quick numbers first
server   the server: this machine alone, one token, one page

The page itself lies in ``web``; its script is built from ``clients/web/src/studio``.
"""
