"""From chapters to a book: runs, sweeps, pages, the live page, the course."""
