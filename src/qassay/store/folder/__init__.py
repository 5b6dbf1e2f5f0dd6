"""The evaluation folder into the store (importing), and the store as a folder, to be read like any other (snapshot)."""
