"""Does not end its lines."""
import sys
import honest


def write(line):
    sys.stdout.write(line)
    sys.stdout.flush()


honest.play(write=write)
