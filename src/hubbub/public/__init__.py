"""What anybody may know beforehand: lists of queries and result pages, and how to make them."""
