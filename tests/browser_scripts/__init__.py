"""What tests evaluate in a page of a browser: JavaScript, a file for each function."""

from pathlib import Path


def script_source(name: str) -> str:
    """Return a function's source."""
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")
