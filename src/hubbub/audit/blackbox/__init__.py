"""An auditor for mechanisms of anybody's that release keys: it sees what goes in and what comes out, nothing else.

    outcome     what a subject gave back, and the events that are looked for in it
    runs        a subject in a process of its own: time limit, no network, errors as outputs
    served      what runs in that process: a file of its own, for any Python
    another     a subject under another Python, with packages that hubbub has not
    walk        noise that is walked through exactly, where a subject takes its noise as an argument
    logs        neighbouring logs: worst cases, random changes of them, smaller ones
    evidence    how sure a violation is, whenever one stops looking
    look        the story of one setting: search, test, shrink, a verdict
    campaign    many settings, several at a time, resumed where they ended

"Not refuted" is the best it can say, with how large a violation would have been seen.
"""
