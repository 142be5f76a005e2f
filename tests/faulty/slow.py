"""Thinks for ever about its second move."""
import signal
import honest


def answer(message):
    if message["type"] == "turn" and message["id"] >= 2:
        signal.pause()
    return honest.answer(message)


honest.play(answer)
