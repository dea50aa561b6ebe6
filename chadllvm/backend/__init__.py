"""Machine code in this process: linking, and calls between Python and native code."""
