"""Tests by kind: unit, property, statistical, docs."""
