"""The evaluation of the evaluation: what scores and judgments are worth, computed from these alone."""
