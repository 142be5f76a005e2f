"""Counts for itself."""
import honest


def answer(message):
    said = honest.answer(message)
    if said and said["type"] == "move":
        said["id"] += 1
    return said


honest.play(answer)
