"""What is judged: runs, the items made of them, and the parts of an item that take a verdict.

uploads    runs as they come in             items     what one screen shows
pooling    the pool, while people judge     storing   the items that change in the store
parts      what takes a verdict, and the row it becomes
things     short names of what is judged
"""
