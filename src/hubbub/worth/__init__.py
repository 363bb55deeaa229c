"""What a release is still worth to its users, and to an attacker: for its owner."""
