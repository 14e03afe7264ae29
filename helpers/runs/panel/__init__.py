"""The panel's facts, asked by all four chapters, and what was answered."""
