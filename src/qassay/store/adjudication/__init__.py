"""Where assessors disagree (METHOD 4).

comparing        what they said, side by side         settling    what all agree on is adopted by itself
disagreements    what is left for a person            rulings     what the person decided
own_lists        lists of nuggets side by side        adopting    one of them for all
"""
