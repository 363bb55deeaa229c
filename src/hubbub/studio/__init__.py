"""The studio: choose ε by looking. A page on this machine, for the owner of a log.

    sketch      a log as a few small arrays, once            quick       what a release would keep, at once
    asked       what the page asks for, as a command         jobs        a release in a process of its own
    state       what was opened, and what is going on        browse      released tables: search, neighbours
    security    who may ask: this machine, this page         app, views  addresses and answers

Nothing that it answers holds a row of the raw log: counts and shapes for the owner, and released tables.
"""
