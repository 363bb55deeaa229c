"""The paper's own optimisation, as printed: exact bounds and search. Nothing here is private."""
