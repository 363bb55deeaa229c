"""From a log to exact counts: which keys a user holds, how many may stay, how many users hold each.

`keys/` says what is counted, `bound` limits one user, `count` adds up. SQL text in the engines'
common subset, written once.
"""
