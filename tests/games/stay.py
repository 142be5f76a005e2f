"""Stay, for tests: a seat stays, or ends the game and wins it. Who stays for ever never ends it.

With the option `spins` each stay has so many random events. With `fails_at` the program dies at that stay of a game.
"""

import json
import os
import sys


def told(state, rules):
    over = state["winner"] is not None
    answer = {"state": state, "turn": state["turn"], "points": [state["stays"] % 7, 3], "result": None}
    if over:
        result = {"winner": state["winner"], "reason": "ended"}
        return answer | {"turn": None, "ask": None, "result": result}
    if state["spins"]:
        return answer | {"ask": "chance", "outcomes": [[0, 1], [1, 1]]}
    return answer | {"ask": "move", "legal": ["stay", "end"]}


for line in sys.stdin:
    question = json.loads(line)
    if question.get("describe"):
        print(json.dumps({"name": "stay", "rules": {"spins": 0, "fails_at": 0}}), flush=True)
        continue
    rules = question["rules"]
    state = question.get("state", {"stays": 0, "spins": 0, "turn": question.get("first"), "winner": None})
    if question.get("move") == "stay":
        state["stays"] += 1
        state["spins"] = rules["spins"]
        state["turn"] = 1 - state["turn"]
        if state["stays"] == rules["fails_at"]:
            os._exit(3)
    elif question.get("move") == "end":
        state["winner"] = state["turn"]
    elif "chance" in question:
        state["spins"] -= 1
    print(json.dumps(told(state, rules)), flush=True)
