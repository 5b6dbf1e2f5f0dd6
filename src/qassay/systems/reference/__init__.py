"""Reference systems: real, small, and each explained at the head of its file. (METHOD 8)

They give an evaluation something to score from the first minute, and a floor to compare one's own system with.
"""
