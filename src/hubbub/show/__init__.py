"""Pages people read: made from a card and released tables only, unless they say otherwise."""
