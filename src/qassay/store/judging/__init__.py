"""What assessors said: judgments that are appended and never overwritten.

judgments, appending, looking    rows, their versions and what stands
decisions                        one decision of an assessor, in one transaction
nuggets, nugget_changes          lists of nuggets, and what may happen to them
taking_back, classes, history    matches taken back; equivalent answers of lists; from what to what
"""
