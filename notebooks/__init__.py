"""Code of single chapters, and the wordings of their findings."""
