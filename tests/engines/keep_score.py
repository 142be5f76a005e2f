"""Run inside GNU Backgammon (`gnubg -t -q -r -p keep_score.py`): plays the games of recorded matches over, so that it judges every
move by its own rules and keeps the score itself. HAKEM_RECORDS is the folder of the records, HAKEM_KEPT the file that
gets a JSON line for each game: what GNU Backgammon says of it, and HAKEM_POSITIONS one that gets a JSON line for every eighth
position in which a play was asked: the position, as `hakem rules` reads it, and how many plays GNU Backgammon sees."""

import collections
import json
import os
import re

import gnubg


def told(command):
    gnubg.command(command)


def refuse(why):
    raise SystemExit(why)


def turn():
    return gnubg.posinfo()["turn"]


def side(points):
    """A side's counts by place: off, the points, the bar."""
    return [15 - sum(points), *points]


def position():
    """The position on the board, in which a play is asked, with the number of plays."""
    other, own = gnubg.board()
    state = {
        "checkers": [side(own), side(other)], "dice": gnubg.posinfo()["dice"], "cube": {"value": 1, "owner": None},
        "score": [0, 0], "length": 0, "crawford": False, "turn": 0,
    }
    return {"plays": len(gnubg.hint(9999)["hint"]), "line": {"game": "tavla", "rules": {}, "state": state}}


def play(game, where, positions):
    """Plays one game over. Returns the numbers of plays, passes and cube answers, and the cube before the end."""
    counts = collections.Counter()
    cube = 1
    for event in game:
        if "result" in event:
            break
        cube = gnubg.cubeinfo()["cube"]
        if "drawn" in event:
            drawn = event["drawn"]
            dice = drawn["dice"]
            if drawn["kind"] == "opening":
                told(f"set turn {0 if dice[0] > dice[1] else 1}")
            elif turn() != drawn["seat"]:
                refuse(f"{where}: seat {drawn['seat']} rolls, but by GNU Backgammon it is the turn of {turn()}")
            told(f"set dice {dice[0]} {dice[1]}")
        elif "passed" in event:
            # Refused where there is a legal move.
            before = turn()
            told("move")
            if turn() == before:
                refuse(f"{where}: seat {before} passes, but GNU Backgammon sees a move")
            counts["passes"] += 1
        elif "answer" in event:
            seat, move = event["answer"]["seat"], event["answer"]["move"]
            if turn() != seat:
                refuse(f"{where}: seat {seat} answers {move}, but by GNU Backgammon it is the turn of {turn()}")
            if isinstance(move, list):
                before = gnubg.posinfo()
                if counts["plays"] % 8 == 0:
                    positions.write(json.dumps(position()) + "\n")
                told("move " + " ".join(f"{start}/{end}" for start, end in move))
                after = gnubg.posinfo()
                if after["gamestate"] == 1 and after["turn"] == before["turn"]:
                    refuse(f"{where}: GNU Backgammon does not accept {move} with {before['dice']}")
                counts["plays"] += 1
            elif isinstance(move, dict):
                told("resign " + ["normal", "gammon", "backgammon"][move["resign"] - 1])
                counts["resignations"] += 1
            elif move in ("double", "take", "pass", "beaver", "accept", "refuse"):
                told({"pass": "drop", "refuse": "decline", "beaver": "redouble"}.get(move, move))
                counts[move] += 1
    return counts, cube


matches = collections.defaultdict(list)
folder = os.environ["HAKEM_RECORDS"]
for name in sorted(os.listdir(folder), key=lambda name: [int(number) for number in re.findall(r"\d+", name)[:3]]):
    with open(os.path.join(folder, name), encoding="utf-8") as record:
        lines = [json.loads(line) for line in record]
    matches[name.rsplit(".g", 1)[0]].append((name.removesuffix(".jsonl"), lines))

for command in [
    "set automatic game off", "set automatic roll off", "set automatic move off", "set automatic bearoff off",
    "set threads 1", "set evaluation chequerplay evaluation plies 0", "set automatic doubles 0", "set player 0 human", "set player 1 human", "set confirm new off",
    "set confirm save off", "set display off", "set tutor mode off",
]:
    told(command)
with (
    open(os.environ["HAKEM_KEPT"], "w", encoding="utf-8") as kept,
    open(os.environ["HAKEM_POSITIONS"], "w", encoding="utf-8") as positions,
):
    for match in matches.values():
        rules = match[0][1][0]["header"]["rules"]
        told(f"set automatic crawford {'on' if rules['crawford'] else 'off'}")
        told(f"set jacoby {'on' if rules['jacoby'] else 'off'}")
        told(f"set beavers {1 if rules['beavers'] else 0}")
        told(f"new match {rules['match_length']}" if rules["match_length"] else "new session")
        for number, (game, lines) in enumerate(match):
            if number > 0:
                told("new game")
            counts, cube = play(lines, game, positions)
            if gnubg.posinfo()["gamestate"] == 1:
                refuse(f"{game}: GNU Backgammon says that the game goes on")
            info = gnubg.match(analysis=0, boards=0)["games"][-1]["info"]
            kept.write(json.dumps({
                "id": game,
                "winner": {"X": 0, "O": 1}[info["winner"]],
                "cube": cube,
                "points": info["points-won"],
                "before": [info["score-X"], info["score-O"]],
                "crawford": bool(info.get("crawford", False)),
                "resigned": bool(info["resigned"]),
                "counts": counts,
            }) + "\n")
