"""What people look at, in a real Chromium: no network, no error on the console, reachable without a mouse."""
