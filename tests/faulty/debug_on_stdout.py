"""Prints what it thinks."""
import honest


def write(line):
    honest.write("thinking about " + line[:20])
    honest.write(line)


honest.play(write=lambda line: write(line) if "move" in line else honest.write(line))
