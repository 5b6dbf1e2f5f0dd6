"""Machine code for large jobs; the same results as array code. Importing a module of it imports numba.

machine      how functions are compiled, and one instruction that Python lacks
scoring      deals the units and scores subsets of them
counting     counts swaps without visiting the pairs
counter      puts the two together: trials in, counts out
predicting   the closed form over very many pairs
"""
