"""Has a bug."""
import honest


def answer(message):
    if message["type"] == "turn" and message["id"] == 3:
        return message["legal"][1000]
    return honest.answer(message)


honest.play(answer)
