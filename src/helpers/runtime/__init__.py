"""What every measurement needs of the machine: devices, processes, warnings."""
