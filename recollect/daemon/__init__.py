"""The daemon: the room that knows all others. It builds the parts, starts them, and stops them.

In: settings. Out: a process (`python -m recollect.daemon`) that holds the data directory's lock,
answers hooks on `hook.sock`, and HTTP on `recollect.sock` and 127.0.0.1. `runtime` builds it all.
"""
