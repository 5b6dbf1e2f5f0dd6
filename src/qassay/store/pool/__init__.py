"""The pool: runs, and the items made of them (`qassay.judging.items`).

uploads    runs as they come in
items      items in the store, brought up to date with a new pool
pooling    the pool, while people judge
"""
