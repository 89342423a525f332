"""A text as one line.

In: any text and the most characters. Out: its beginning without line breaks, cut at a word.
"""


def one_line(text: str, most: int) -> str:
    flat = " ".join(text[: 4 * most].replace("\0", " ").split())  # SQLite's texts end at a NUL
    return flat if len(flat) <= most else flat[: most - 1].rsplit(" ", 1)[0] + "…"
