"""Takes whatever a read brings for a line."""
import os
import honest


def lines():
    while True:
        piece = os.read(0, 65536)
        if not piece:
            return
        yield from piece.decode().splitlines()


honest.play(lines=lines)
