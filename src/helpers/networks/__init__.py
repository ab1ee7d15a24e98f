"""Networks: where they come from, how they are built, and where they can be read."""
