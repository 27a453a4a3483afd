"""``make peers``: other people's software, asked what we are asked, in an environment of its own.

questions   what is asked, as plain data
installed   packages of the index, called in their own environment; nothing of ours is imported
rewritten   what cannot be installed, written anew from its paper
answer      one answer in a fresh process: ends, CPU seconds, peak memory
"""
