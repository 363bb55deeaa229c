"""The five papers: their numbers computed again, and their experiments run again."""
