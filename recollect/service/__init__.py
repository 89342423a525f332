"""The operations behind every door: what REST, MCP, the command line and Python all do.

In: plain values. Out: plain values; a refusal raises an error of `core`. Nothing here knows
how it was asked. The doors add their words and take nothing away.
"""
