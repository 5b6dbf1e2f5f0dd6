"""Where assessors disagree (METHOD 4).

comparing        what they said, side by side         settling    what all agree on is adopted by itself
disagreements    what is left for a person            rulings     what the person decided
adopting         one assessor's nugget list for all
"""
