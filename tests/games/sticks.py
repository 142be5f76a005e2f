"""Sticks, for tests: take one to three of them, who takes the last one wins. No chance.

What `fault.txt` names is done wrong at the third move of a game. Where there is a socket `gate`, the start of the fifth
game of this process waits there for ever.
"""

import json
import os
import socket
import sys
import time

starts = 0


def fault():
    try:
        with open("fault.txt") as file:
            return file.read().strip()
    except OSError:
        return ""


def told(left, turn, rules):
    answer = {"state": {"left": left, "turn": turn}, "turn": turn, "ask": "move", "result": None}
    if left == 0:
        winner = 1 - turn
        result = {"winner": winner, "score": [1 - winner, winner], "points": [1 - winner, winner], "reason": "last"}
        return answer | {"turn": None, "ask": None, "legal": [], "result": result}
    return answer | {"legal": list(range(1, min(rules["most"], left) + 1))}


def wrong(what, answer):
    if what == "crash":
        print("Traceback: a bug in the rules", file=sys.stderr, flush=True)
        os._exit(3)
    if what == "hang":
        while True:
            time.sleep(1000)
    if what == "garbage":
        return "here you are"
    if what == "long":
        return "x" * (17 << 20)
    if what == "refuse":
        return json.dumps({"error": {"code": "illegal_move", "message": "I have changed my mind"}})
    if what == "nothing-legal":
        return json.dumps(answer | {"legal": []})
    if what == "two-winners":
        return json.dumps(answer | {"result": {"winner": 0, "score": [0, 1]}})
    if what == "no-state":
        del answer["state"]
    if what == "twice":
        return json.dumps(answer) + "\n" + json.dumps(answer)
    if what == "chatter":
        return json.dumps(answer) + "\nnow it is seat 0"
    if what == "blank":
        return json.dumps(answer) + "\n"
    if what == "legal-twice" and answer.get("legal"):
        return json.dumps(answer | {"legal": [1, 1.0]})
    return json.dumps(answer)


for line in sys.stdin:
    question = json.loads(line)
    what = fault()
    if question.get("describe"):
        name = "mangala" if what == "taken" else "sticks"
        if what == "silent":
            sys.exit(7)
        print(json.dumps({"name": name, "rules": {"sticks": 15, "most": 3}}), flush=True)
        continue
    rules = question["rules"]
    state = question.get("state")
    if state is None and what.startswith("start "):
        # What follows is the answer to the start, or text before it.
        print(what.removeprefix("start "), flush=True)
        continue
    if state is None:
        starts += 1
        if starts == 5 and os.path.exists("gate"):
            gate = socket.socket(socket.AF_UNIX)
            gate.connect("gate")
            while True:
                time.sleep(1000)
        answer = told(rules["sticks"], question["first"], rules)
    elif not isinstance(state.get("left"), int) or state.get("turn") not in (0, 1):
        answer = {"error": {"code": "bad_message", "message": "left and turn are numbers"}}
    elif "move" not in question:
        answer = told(state["left"], state["turn"], rules)
    elif question["move"] in told(state["left"], state["turn"], rules)["legal"]:
        answer = told(state["left"] - question["move"], 1 - state["turn"], rules)
        if what and state["left"] < rules["sticks"] - 1:
            print(wrong(what, answer), flush=True)
            continue
    else:
        answer = {"error": {"code": "illegal_move", "message": "so many cannot be taken"}}
    print(json.dumps(answer), flush=True)
