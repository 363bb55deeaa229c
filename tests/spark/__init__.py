"""The Spark engine: needs Java; starts Spark processes on loopback only."""
