"""Error rates without drawing a trial: from means and variances of the pairs' differences. (METHOD 6)

predictor    moments of the pairs, and the rates of fresh units at any size
trinomial    the same without approximation, for right-or-wrong scores on small sets
expectation  with ties, for fresh units and for units dealt from those at hand
plausible    true means that the runs could have
"""
