"""Falls over messages that it does not know."""
import honest


def answer(message):
    if message["type"] not in ("hello", "start", "turn", "end", "ping", "stop", "error"):
        raise ValueError(f"what is {message['type']}?")
    return honest.answer(message)


honest.play(answer)
