"""`recollect bench`: how well retrieval finds, how often it stays silent, and how fast it is."""
