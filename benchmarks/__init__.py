"""Speed, memory and error of the metrics beside other packages and plain loops: `python -m benchmarks`."""
