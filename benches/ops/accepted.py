"""The cases that may be slower than 0.7 of their best peer, and the reason of each.

run.py fails if another case is. The list has at most 15 cases.
"""

LIMIT = 15
ACCEPTED = {
}
