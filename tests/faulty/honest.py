"""A bot without a fault. Each script beside this file imports it and does one thing wrong."""

import json
import sys


def choose(turn):
    if turn["ask"] == "race":
        return {"qbitz": None}
    return turn["legal"][0]


def write(line):
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def ready():
    return {"type": "ready", "protocol": 1, "name": "faulty"}


def answer(message):
    """The message that answers this one, or None."""
    if message["type"] == "hello":
        return ready()
    if message["type"] == "turn":
        return {"type": "move", "id": message["id"], "move": choose(message)}
    if message["type"] == "ping":
        return {"type": "pong", "id": message["id"]}
    return None


def lines():
    return sys.stdin


def play(answer=answer, write=write, lines=lines):
    for line in lines():
        message = json.loads(line)
        if message["type"] == "bye":
            break
        said = answer(message)
        if said is not None:
            write(json.dumps(said))


if __name__ == "__main__":
    play()
