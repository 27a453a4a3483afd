"""What each paper states: data. ``tests/papers/test_statements.py`` runs every command and session.

balle_2019    the privacy blanket
feldman_2020  hiding among the clones
koskela_2021  the Fourier accountant
biswas_2023   k-RR, exactly
others        papers of which only bounds or errata are here
"""
