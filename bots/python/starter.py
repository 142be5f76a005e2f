#!/usr/bin/env python3
"""A hakem bot in one file: it answers every turn with a legal answer picked at random, and lays the cards of Q-Bitz.

Change choose(). Nothing else has to be touched: the rest speaks the protocol, one JSON object a line.
Do not print to stdout, it belongs to the protocol; sys.stderr goes to the bot's log.
"""

import json
import random
import sys

NAME = "starter"


def choose(turn, game, rules, options):
    """Returns the answer to a turn. THIS IS THE PLACE TO CHANGE.

    turn["seat"]   your seat; lists in the state are by seat, each seen from its own seat
    turn["ask"]    "move"; in Tavla also "cube" (before rolling), "take" (a double), "resign" (a resignation); in Q-Bitz "race"
    turn["state"]  the position
    turn["legal"]  everything that you may answer: return one of these
    turn["last"]   what happened since your last answer
    turn["clock"]  left_ms by seat, limit_ms for this answer (None: no limit)
    """
    if turn["ask"] == "race":  # Q-Bitz lists no answers: the first right tray wins the round.
        return {"qbitz": lay(turn["state"])}
    return random.choice(turn["legal"])


def lay(state):
    """Returns the tray that lays a Q-Bitz card, or None: each cell takes a cube that has its face."""
    cells, cubes = sum(state["pattern"], []), state["cubes"]
    cell_of = {}  # which cell each cube in use lies on

    def place(cell, tried):
        for cube, faces in enumerate(cubes):
            if cube not in tried and cells[cell]["face"] in faces:
                tried.add(cube)
                # The cube is free, or its cell can do with another one.
                if cube not in cell_of or place(cell_of[cube], tried):
                    cell_of[cube] = cell
                    return True
        return False

    if not all(place(cell, set()) for cell in range(16)):
        return None
    tray = [None] * 16
    for cube, cell in cell_of.items():
        face, turn = cells[cell]["face"], cells[cell]["turn"]
        tray[cell] = {"cube": cube, "face": cubes[cube].index(face), "turn": turn}
    return [tray[row:row + 4] for row in range(0, 16, 4)]


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main():
    game, rules, options = None, {}, {}
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            game, rules, options = message["game"], message["rules"], message["options"]
            random.seed(options.get("seed"))
            send({"type": "ready", "protocol": 1, "name": NAME, "version": "1.0"})
        elif kind == "turn":
            send({"type": "move", "id": message["id"], "move": choose(message, game, rules, options)})
        elif kind == "ping":
            send({"type": "pong", "id": message["id"]})
        elif kind == "error":
            print(message["code"], message["message"], file=sys.stderr)
        elif kind == "bye":
            break
        # "start", "end", "stop" and whatever a later protocol adds need no answer. An answer to a turn that "stop" has
        # withdrawn meanwhile does no harm.


if __name__ == "__main__":
    main()
