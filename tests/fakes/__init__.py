import pathlib


def frozen_path() -> str:
    """To be put first on PYTHONPATH: extraction then freezes on a word."""
    return str(pathlib.Path(__file__).with_name("frozen"))
