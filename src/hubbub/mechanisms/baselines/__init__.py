"""Selection baselines from the literature: queries alone, to compare with."""
