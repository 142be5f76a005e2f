"""Falls over fields that it does not know."""
import honest

TURN = {"type", "id", "seat", "ask", "state", "legal", "last", "clock"}


def answer(message):
    if message["type"] == "turn" and set(message) - TURN:
        raise KeyError(f"unknown fields {sorted(set(message) - TURN)}")
    return honest.answer(message)


honest.play(answer)
