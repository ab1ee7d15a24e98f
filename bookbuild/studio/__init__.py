"""The studio: the lab's networks as ONNX files, and the scripts that run them in the reader's own page."""
