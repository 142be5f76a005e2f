"""Answers hello, and no turn."""
import honest


def answer(message):
    return None if message["type"] == "turn" else honest.answer(message)


honest.play(answer)
