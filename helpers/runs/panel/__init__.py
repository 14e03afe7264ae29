"""The panel's facts, asked by all four chapters: `asking` them, and `reading` what was answered."""
