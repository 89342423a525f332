"""Attacks on the running product, as cases that `make torture` repeats with seeds.

One module per area, each with a list `CASES`. The suite runs an attack a few times in the test
that belongs to it; `make torture` runs all of them for as long as one likes and prints a table.
"""
