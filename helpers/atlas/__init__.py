"""How the bundled models are made: facts and frames, corpus with counted exposures, trainer."""
