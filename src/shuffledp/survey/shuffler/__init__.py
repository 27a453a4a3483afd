"""The shuffler: it takes envelopes that it cannot read, and releases them without their order.

app      what is answered to which request, and who may ask it
metrics  counts for the public, in steps that hide one report more or less; an outlook
writer   one thread that writes: everything that waits, in one commit
server   the process: address, certificate, limits, slow clients, a stop that loses nothing
"""
