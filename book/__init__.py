"""The book's sources; :mod:`book.tools` makes the book from them."""
