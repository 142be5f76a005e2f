#!/usr/bin/env python3
"""A hakem bot that thinks: it searches Mangala, and weighs the plays of Tavla. Everything comes from the messages.

Mangala: the rules are short enough to be written down again (sow), so the bot can look ahead: alpha-beta, one move
deeper each time until its time is over. Tavla: legal plays are listed, so only their positions must be weighed
(tavla_value); the cube is decided by the race. Other games: the first legal answer.

Options: seconds (default 0.1), the time to think about one Mangala move.
"""

import json
import sys
import time

NAME = "better"

# ---- Mangala -----------------------------------------------------------------------------------------------------
#
# A position is a list of 14 counts, seen from the seat to move: 0-5 its pits, 6 its treasury, 7-12 the pits of the
# opponent from the opponent's left to right, 13 the opponent's treasury. A stone moves on to the next index.

WIN = 1000


def mangala_position(state):
    me = state["turn"]
    you = 1 - me
    return state["pits"][me] + [state["stores"][me]] + state["pits"][you] + [state["stores"][you]]


def sow(position, pit):
    """The position after a move, and whether the same seat moves again. Seen from the seat that moved."""
    after = list(position)
    stones = after[pit]
    after[pit] = 0
    # The first of several stones goes back into the pit; a single one moves on.
    place = pit if stones > 1 else pit + 1
    while True:
        after[place] += 1
        stones -= 1
        if stones == 0:
            break
        place = (place + 1) % 13  # index 13, the opponent's treasury, is left out

    if 7 <= place <= 12 and after[place] % 2 == 0:
        # The last stone made an opposing pit even: take it.
        after[6] += after[place]
        after[place] = 0
    elif place < 6 and after[place] == 1 and after[12 - place] > 0:
        # The last stone fell into an empty own pit: take it and the opposite pit.
        after[6] += 1 + after[12 - place]
        after[place] = after[12 - place] = 0

    # Whoever has run out of stones takes what is left on the other side.
    for side, treasury in ((0, 6), (7, 13)):
        if not any(after[side : side + 6]):
            rest = 7 - side
            after[treasury] += sum(after[rest : rest + 6])
            after[rest : rest + 6] = [0] * 6
            break
    return after, place == 6


def turned(position):
    return position[7:] + position[:7]


def mangala_value(position):
    """How good an undecided position is for the seat to move, in stones."""
    side = sum(position[0:6]) - sum(position[7:13])
    return position[6] - position[13] + 0.3 * side


class TimeOver(Exception):
    pass


def search(position, depth, alpha, beta, deadline):
    """The value of a position for the seat to move (negamax with alpha-beta pruning)."""
    lead = position[6] - position[13]
    if position[6] > 24 or position[13] > 24 or position[6] + position[13] == 48:
        # More than half of the stones cannot be lost any more.
        return lead + (WIN if lead > 0 else -WIN if lead < 0 else 0)
    if depth == 0:
        return mangala_value(position)
    if time.monotonic() > deadline:
        raise TimeOver
    best = -2 * WIN
    # From the right: those moves reach the treasury first. Good moves first make the pruning work.
    for pit in range(5, -1, -1):
        if position[pit] == 0:
            continue
        after, again = sow(position, pit)
        if again:
            value = search(after, depth - 1, alpha, beta, deadline)
        else:
            value = -search(turned(after), depth - 1, -beta, -alpha, deadline)
        best = max(best, value)
        alpha = max(alpha, value)
        if alpha >= beta:
            break
    return best


def play_mangala(turn, options):
    position = mangala_position(turn["state"])
    deadline = time.monotonic() + thinking_time(turn, options)
    moves = [move - 1 for move in turn["legal"]]
    for depth in range(1, 40):
        values = {}
        try:
            for pit in moves:
                after, again = sow(position, pit)
                if again:
                    values[pit] = search(after, depth - 1, -2 * WIN, 2 * WIN, deadline)
                else:
                    values[pit] = -search(turned(after), depth - 1, -2 * WIN, 2 * WIN, deadline)
        except TimeOver:
            break
        # The best move of this depth is tried first at the next.
        moves.sort(key=lambda pit: -values[pit])
    return moves[0] + 1


def thinking_time(turn, options):
    """Seconds for this answer: what was asked for, but always well inside the clock."""
    seconds = float(options.get("seconds", 0.1))
    limit, left = turn["clock"]["limit_ms"], turn["clock"]["left_ms"][turn["seat"]]
    if limit is not None:
        seconds = min(seconds, limit / 1000 / 4)
    if left is not None:
        seconds = min(seconds, left / 1000 / 40)
    return seconds


# ---- Tavla -------------------------------------------------------------------------------------------------------
#
# A side is a list of 26 counts from its own view: 0 off, 1-24 the points, 25 the bar. It moves down; my point p is
# the opponent's point 25 - p.


def after_play(mine, theirs, play):
    mine, theirs = list(mine), list(theirs)
    for start, end in play:
        mine[start] -= 1
        mine[end] += 1
        if 1 <= end <= 24 and theirs[25 - end] == 1:
            theirs[25 - end] = 0
            theirs[25] += 1
    return mine, theirs


def pips(side):
    """What a side has still to move, in all."""
    return sum(point * count for point, count in enumerate(side))


def rolls_that_hit(theirs, point):
    """Roughly how many of the opponent's 36 rolls hit a blot on my point."""
    seen = 25 - point  # the same point from the opponent's view
    rolls = 0
    for distance in range(1, 25 - seen + 1):
        if theirs[seen + distance]:
            # A direct shot, or one by both dice together.
            rolls = max(rolls, 10 + distance if distance <= 6 else 4 if distance <= 12 else 0)
    return rolls


def tavla_value(mine, theirs):
    """How good a position is for the side that has just played, in pips."""
    value = pips(theirs) - pips(mine) + 2 * mine[0]
    contact = max((p for p in range(26) if mine[p]), default=0) + max(
        (p for p in range(26) if theirs[p]), default=0
    ) > 25
    if not contact:
        # A pure race: bear in and off without waste, so leave no gaps by stacking the low points.
        return value - 0.5 * sum(max(0, mine[p] - 3) for p in range(1, 4))
    run = 0  # made points in a row: they block
    for point in range(1, 25):
        if mine[point] >= 2:
            run += 1
            value += 6 if point <= 7 else 3
            value += run if point <= 11 else 0
            value -= 1.5 * max(0, mine[point] - 3)  # stacked checkers do little
        else:
            run = 0
            if mine[point] == 1:
                value -= rolls_that_hit(theirs, point) / 36 * (25 - point + 6)
    # Checkers on the bar cost more the fewer points are open to enter.
    value += theirs[25] * sum(1 for point in range(1, 7) if mine[point] >= 2) * 2
    return value


def play_tavla(turn):
    state, ask = turn["state"], turn["ask"]
    mine, theirs = state["checkers"][turn["seat"]], state["checkers"][1 - turn["seat"]]
    if ask == "cube":
        # Before rolling: double when clearly ahead in the race with nobody on the bar.
        ahead = pips(theirs) - pips(mine)
        double = mine[25] == 0 and ahead >= 8 + 0.08 * pips(mine)
        return "double" if double and "double" in turn["legal"] else "roll"
    if ask == "take":
        # The opponent is on roll: pass when far behind.
        return "pass" if pips(mine) - pips(theirs) > 10 + 0.12 * pips(theirs) else "take"
    if ask == "resign":
        # Worth more only if a mars is near: no checker of theirs is off, and they have far to go.
        times = state["resign"]["times"]
        mars_is_near = theirs[0] == 0 and pips(theirs) > 60 and pips(mine) < 40
        return "refuse" if times == 1 and mars_is_near else "accept"
    return max(turn["legal"], key=lambda play: tavla_value(*after_play(mine, theirs, play)))


# ---- The protocol ------------------------------------------------------------------------------------------------


def choose(turn, game, options):
    if game == "mangala":
        return play_mangala(turn, options)
    if game == "tavla":
        return play_tavla(turn)
    if turn["ask"] == "race":
        return {"qbitz": None}
    return turn["legal"][0]


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main():
    game, options = None, {}
    for line in sys.stdin:
        message = json.loads(line)
        kind = message["type"]
        if kind == "hello":
            game, options = message["game"], message["options"]
            send({"type": "ready", "protocol": 1, "name": NAME, "version": "1.0"})
        elif kind == "turn":
            send({"type": "move", "id": message["id"], "move": choose(message, game, options)})
        elif kind == "ping":
            send({"type": "pong", "id": message["id"]})
        elif kind == "error":
            print(message["code"], message["message"], file=sys.stderr)
        elif kind == "bye":
            break


if __name__ == "__main__":
    main()
