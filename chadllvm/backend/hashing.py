"""The hash by which compiled code is found again."""

from __future__ import annotations

# The module itself: `hashlib` loads OpenSSL first, which takes longer than all we do.
try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

SIZE = 32


def digest_of(*parts: bytes) -> bytes:
    """The digest of some texts; it says where each of them ends."""
    state = blake2b(digest_size=SIZE)
    for part in parts:
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    found: bytes = state.digest()
    return found
