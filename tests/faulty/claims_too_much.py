"""Claims to be deterministic, and draws lots."""
import random
import honest


def answer(message):
    if message["type"] == "hello":
        return dict(honest.ready(), deterministic=True)
    if message["type"] == "turn" and message["ask"] != "race":
        return {"type": "move", "id": message["id"], "move": random.choice(message["legal"])}
    return honest.answer(message)


honest.play(answer)
