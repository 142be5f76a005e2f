"""Prints a dict where JSON is asked for."""
import json

import honest


def write(line):
    honest.write(str(json.loads(line)) if "move" in line else line)


honest.play(write=write)
