"""One folder per host (an agent that we connect), and what they all share.

A folder holds `facts.py` (names, places, hooks), `adapter.py` (payloads in, answers out),
`installer.py` (the files that we change) and, where the host keeps its sessions on disk,
`transcript.py`. `registry.py` finds the folders; nothing else lists hosts.
"""
