"""The price of privacy: what tasks lose to it, over ε, the number of users and every mechanism that is private.

    request  what is asked for       run   samples of users, draws, scores       page   the owner's page, and JSON

Everything is from seeded draws of parts of the log: nothing is released and no budget is spent. But it is computed from
the raw log, so the ledger records the look, and what is written goes to `owner-only/`.
"""
