"""The shuffler: it takes envelopes that it cannot read, and releases them without their order.

tokens        who may close a collection, and fetch what it holds
limits        how much one address, and all of them together, may ask
metrics       counts for the public, in steps that hide one report more or less
committing    one thread that writes: everything that waits, in one commit
outlook       what the reports so far would give: epsilon, and the error to expect
web_files     the pages and their parts
replies       how an answer is written, and what it allows a browser
shuffler_app  what is answered to which request
connections   slow clients, endless headers, too many connections
serving       the process: address, certificate, log, a stop that loses nothing
"""
