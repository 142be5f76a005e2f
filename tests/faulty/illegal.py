"""Makes its moves up."""
import honest


def answer(message):
    said = honest.answer(message)
    if said and said["type"] == "move":
        said["move"] = 99
    return said


honest.play(answer)
