"""What an audit tries: each module looks for one kind of fault."""
