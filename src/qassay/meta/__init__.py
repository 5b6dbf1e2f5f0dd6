"""The evaluation of the evaluation: what scores and judgments are worth, told from these alone."""
