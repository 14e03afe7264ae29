"""The four studies: what each asks, how it measures, what it finds."""
