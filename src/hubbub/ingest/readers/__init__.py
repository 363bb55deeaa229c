"""One file per format: how its bytes become records. A new file in this folder is found by itself."""
