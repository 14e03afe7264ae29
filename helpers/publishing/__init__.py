"""From chapters to a book: runs, sweeps, rendering, the live page, the course."""
