"""Tools that make the book: ``python -m book.tools``."""
