"""Judgments of assessors: they are appended and never overwritten.

judgments                     rows, their versions and the current ones
decisions                     one judgment of an assessor, in one transaction; and undoing
nuggets, nugget_changes       lists of nuggets, and what may happen to them
classes, history              equivalent answers of lists; from what to what
"""
