#!/usr/bin/env python3
"""A hakem bot in one file: it answers every turn with a legal answer picked at random.

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
    turn["ask"]    "move"; in Tavla also "cube" (before rolling), "take" (a double), "resign" (a resignation)
    turn["state"]  the position
    turn["legal"]  everything that you may answer: return one of these
    turn["last"]   what happened since your last answer
    turn["clock"]  left_ms by seat, limit_ms for this answer (None: no limit)
    """
    if turn["ask"] == "race":  # Q-Bitz lists no answers; this gives up the round.
        return {"qbitz": None}
    return random.choice(turn["legal"])


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
        # "start", "end", "stop" and whatever a later protocol adds need no answer.


if __name__ == "__main__":
    main()
