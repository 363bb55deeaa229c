"""What the owner of a log may look at before spending anything: never for others."""
