"""The hash function of file names and caches."""

try:
    from _blake2 import blake2b as new_hash  # hashlib also loads OpenSSL, which takes a millisecond
except ImportError:
    from hashlib import blake2b as new_hash

__all__ = ["new_hash"]
