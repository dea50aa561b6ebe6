"""What an exported library and whoever uses it agree on, besides its functions.

The manifest stands in the library as a text, with a digest of the whole file:

    chadllvm library: {"abi":3,"digest":"…","interface":…}

The digest is written into the file when that is linked. It is the SHA-256 of all bytes,
where those of the digest itself are zeros.
"""

from __future__ import annotations

import hashlib

# Raised when the conventions of `docs/export.md` change.
ABI = 3

# What the manifest in a library begins with, so that it is found in the file.
MARK = "chadllvm library: "

# The file of a folder with the manifest, and the hashes of the other files.
SIGN = "chadllvm.json"

# The digest of a library that nobody has sealed: linked by hand, or signed by a linker.
UNSEALED = "0" * 64

_KEY = b'"digest":"'


def digest_of(content: bytes) -> str:
    """The digest that a library should have in it."""
    place = _place(content)
    view, digest = memoryview(content), hashlib.sha256()
    for part in (view[: place.start], UNSEALED.encode(), view[place.stop :]):
        digest.update(part)
    return digest.hexdigest()


def sealed(content: bytes) -> bytes:
    """A library with its digest in it."""
    place = _place(content)
    digest = digest_of(content).encode()
    return content[: place.start] + digest + content[place.stop :]


def _place(content: bytes) -> slice:
    """Where the digest stands in a library."""
    start = content.index(_KEY, content.index(MARK.encode())) + len(_KEY)
    return slice(start, start + len(UNSEALED))
