"""Measurements: each takes a network and images and returns a result that plots and prints itself."""
