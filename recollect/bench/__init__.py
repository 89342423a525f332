"""`recollect bench`: how well retrieval finds, how often it keeps quiet, and how fast it is."""
