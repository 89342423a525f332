"""What the signals of a score are called for people, in the terminal and in the dashboard."""

SIGNALS = {
    "grams": "same words",
    "window": "words close together",
    "pairs": "word pairs",
    "cosine": "meaning",
    "alone": "meaning, alone",
    "session": "words of its session",
    "session_cosine": "meaning of its session",
    "neighbour": "the turns around it",
    "date": "date in the question",
    "user": "your own words",
    "graph": "related in the graph",
    "answer": "answers it",
    "overlap": "shared words",
}
