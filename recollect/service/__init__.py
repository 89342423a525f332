"""The operations behind every door: what REST, MCP, the command line and Python all do.

In: plain values. Out: plain values; what is refused raises an error of `core`. Nothing here knows
how it was asked. The doors add their words and take nothing away.
"""
