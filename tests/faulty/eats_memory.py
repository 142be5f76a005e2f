"""Needs more memory than it may have."""
import honest

hoard = bytearray(96 << 20)
hoard[::4096] = b"x" * len(hoard[::4096])
honest.play()
