"""A backgammon engine that speaks UBGI in either form: `ubgi.py draft` or `ubgi.py commands`, then the program that knows the
rules (`hakem rules` is asked what is legal in the position that was decoded). It checks what it is told."""

import json
import subprocess
import sys
import zlib

form, hakem = sys.argv[1:3]
rules = subprocess.Popen([hakem, "rules"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def sides(points):
    """Both sides' 26 counts from signed points as the player sees them: 0 the other's bar, 25 its own."""
    own, other = [0] * 26, [0] * 26
    for point, count in enumerate(points):
        if count > 0:
            own[point] = count
        elif count < 0:
            other[25 - point] = -count
    for side in (own, other):
        side[0] = 15 - sum(side)
        assert side[0] >= 0, points
    return [own, other]


def from_xgid(text):
    fields = text.removeprefix("XGID=").split(":")
    assert len(fields) == 10 and len(fields[0]) == 26, text
    points = [0 if c == "-" else ord(c) - 64 if c.isupper() else 96 - ord(c) for c in fields[0]]
    cube, owner, turn, dice, mine, theirs, flag, length, highest = fields[1:]
    owner = {"0": None, "1": 0, "-1": 1}[owner]
    state = {
        "checkers": sides(points),
        "dice": [int(dice[0]), int(dice[1])] if dice.isdigit() and dice != "00" else None,
        "cube": {"value": 2 ** int(cube), "owner": owner},
        "score": [int(mine), int(theirs)],
        "length": int(length),
        "crawford": length != "0" and flag == "1",
        "turn": 0,
    }
    options = {"match_length": int(length), "max_cube": 2 ** int(highest)}
    if length == "0":
        options |= {"jacoby": flag in "13", "beavers": flag in "23"}
    if dice in ("D", "B", "R"):
        state["cube"] |= {"offered": 2 * state["cube"]["value"], "doubler": 0 if turn == "1" else 1}
        assert (turn == "1") == (dice == "B"), text
    else:
        assert turn == "1", text
    return state, options


def from_fibs(text):
    fields = text.split(":")
    assert len(fields) == 53 and fields[0] == "board", text
    numbers = [int(field) for field in fields[3:]]
    length, mine, theirs = numbers[:3]
    points = numbers[3:29]
    turn, die1, die2, _, _, cube, may, they_may, doubled, color, direction, home, bar = numbers[29:42]
    assert (turn, color, direction, home, bar) == (1, 1, -1, 0, 25), text
    state = {
        "checkers": sides(points),
        "dice": [die1, die2] if die1 else None,
        "cube": {"value": cube, "owner": None if may and they_may else 0 if may else 1},
        "score": [mine, theirs],
        "length": length,
        "crawford": length > 0 and length - 1 in (mine, theirs) and not numbers[48],
        "turn": 0,
    }
    assert [side[0] for side in state["checkers"]] == numbers[42:44], text
    if doubled:
        state["cube"] |= {"offered": 2 * cube, "doubler": 1}
    return state, {"match_length": length}


def from_id(text, dice):
    bits = []
    for digit in text:
        number = DIGITS.index(digit)
        bits += [number >> shift & 1 for shift in (5, 4, 3, 2, 1, 0)]
    # Three bytes of four digits each; a byte's lowest bit comes first.
    bits = [bit for byte in range(10) for bit in reversed(bits[8 * byte : 8 * byte + 8])]
    both, at = [], 0
    for _ in range(2):
        side = [0] * 26
        for point in range(1, 26):
            while bits[at]:
                side[point] += 1
                at += 1
            at += 1
        side[0] = 15 - sum(side)
        both.append(side)
    state = {
        "checkers": [both[1], both[0]], "dice": dice, "cube": {"value": 1, "owner": None}, "score": [0, 0], "length": 0,
        "crawford": False, "turn": 0,
    }
    return state, {"cube": False}


def choose(state, options, seed):
    """One of the legal answers, always the same for the same question."""
    rules.stdin.write(json.dumps({"game": "tavla", "rules": options, "state": state}) + "\n")
    rules.stdin.flush()
    answer = json.loads(rules.stdout.readline())
    assert "legal" in answer and answer["legal"], (answer, state)
    number = zlib.crc32(seed.encode())
    if answer["ask"] == "cube":
        return "double" if number % 8 == 0 else "roll"
    if answer["ask"] == "take":
        words = [{"pass": "drop"}.get(word, word) for word in answer["legal"]]
        return words[number % len(words)]
    play = answer["legal"][number % len(answer["legal"])]
    names = {0: "off", 25: "bar"}
    separator = "/- "[number % 3] if form == "draft" else "/"
    return " ".join(separator.join(str(names.get(place, place)) for place in pair) for pair in play)


position, dice = None, None
for line in sys.stdin:
    line = line.strip()
    word, _, rest = line.partition(" ")
    if word == "quit":
        break
    if word == "ubgi":
        print("id name Chooser")
        print("id author the tests")
        print("id version 1.0")
        print("readyok" if form == "draft" else "option name Ply type spin default 0 min 0 max 7\nubgiok")
    elif form == "draft":
        read = from_xgid if line.startswith("XGID=") else from_fibs
        print(choose(*read(line), line))
    elif word == "isready":
        print("readyok")
    elif word == "position":
        position = rest.removeprefix("gnubgid ")
    elif word == "dice":
        dice = [int(die) for die in rest.split()]
    elif line == "go role chequer":
        print(f"bestmove {choose(*from_id(position, dice), position + rest)}")
    elif word == "newsession":
        pass
    else:
        print("error unknown_command")
    sys.stdout.flush()
