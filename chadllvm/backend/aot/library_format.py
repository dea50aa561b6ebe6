"""What an exported library and whoever uses it agree on, besides its functions."""

# Raised when the conventions of `docs/export.md` change.
ABI = 2

# What the manifest in a library begins with, so that it is found in the file.
MARK = "chadllvm library: "
