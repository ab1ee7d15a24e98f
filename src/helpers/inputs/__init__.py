"""Images: bundled ones, photos of a folder, made variants, and batches of any of them."""
