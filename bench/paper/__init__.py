"""The claims of the paper, measured; one topic a file. See `python -m bench paper`."""
