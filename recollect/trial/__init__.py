"""`recollect trial`: what Recollect would have done in sessions that a user has had already.

In: an agent's transcripts. Out: one screen. The sessions are replayed through the real pipeline in
a temporary store; nothing leaves the machine and nothing is kept.
"""
