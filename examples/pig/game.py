"""Pig, a game of dice for two to four, as a program of rules for hakem (protocol/GAMES.md).

A seat rolls as often as it likes. Each roll adds to what lies on the table; a 1 loses that, and the turn. `hold` takes
it, and the next seat rolls. Who has `target` points first wins.
"""

import json
import sys

RULES = {"target": 50}
DIE = [[face, 1] for face in range(1, 7)]


class Refused(Exception):
    """What the rules do not allow, in words."""


def start(rules, question):
    target = rules["target"]
    if not isinstance(target, int) or not 2 <= target <= 1000:
        raise Refused("target is a whole number from 2 to 1000")
    return {"points": [0] * question["seats"], "table": 0, "turn": question["first"], "rolls": False}


def check(state):
    points, table, turn = state["points"], state["table"], state["turn"]
    if not all(isinstance(n, int) and n >= 0 for n in [table, turn, *points]) or turn >= len(points):
        raise Refused("points and table are whole numbers from 0 on, and turn is a seat")
    return {"points": list(points), "table": table, "turn": turn, "rolls": bool(state.get("rolls"))}


def legal(state):
    return ["roll"] + (["hold"] if state["table"] else [])


def move(state, move):
    if state["rolls"] or move not in legal(state):
        raise Refused(f"{json.dumps(move)} is not legal here")
    if move == "roll":
        state["rolls"] = True
    else:
        state["points"][state["turn"]] += state["table"]
        pass_on(state)


def chance(state, face):
    state["rolls"] = False
    if face == 1:
        pass_on(state)
    else:
        state["table"] += face


def pass_on(state):
    state["table"] = 0
    state["turn"] = (state["turn"] + 1) % len(state["points"])


def answer(state, rules):
    points, turn = state["points"], state["turn"]
    told = {"state": state, "seats": len(points), "points": points, "turn": turn, "result": None}
    told["board"] = "".join(
        f"  seat {seat}: {have:4}" + (f"  and {state['table']} on the table\n" if seat == turn else "\n")
        for seat, have in enumerate(points)
    )
    if max(points) >= rules["target"]:
        winner = points.index(max(points))
        result = {"winner": winner, "points": points, "reason": "target"}
        return told | {"turn": None, "ask": None, "legal": [], "result": result}
    if state["rolls"]:
        return told | {"ask": "chance", "outcomes": DIE, "legal": []}
    return told | {"ask": "move", "legal": legal(state)}


for line in sys.stdin:
    try:
        question = json.loads(line)
        if question.get("describe"):
            told = {"name": "pig", "title": "Pig", "seats": [2, 4], "rules": RULES, "points": "points held"}
        else:
            rules = RULES | question["rules"]
            state = check(question["state"]) if "state" in question else start(rules, question)
            if "move" in question:
                move(state, question["move"])
            elif "chance" in question:
                chance(state, question["chance"])
            told = answer(state, rules)
    except Refused as error:
        told = {"error": {"code": "illegal_move", "message": str(error)}}
    except (KeyError, TypeError, ValueError) as error:
        told = {"error": {"code": "bad_message", "message": f"{type(error).__name__}: {error}"}}
    print(json.dumps(told), flush=True)
