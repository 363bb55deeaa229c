"""What a claim says and costs: guarantees, accountants of each kind of noise, composition, the budget book."""
