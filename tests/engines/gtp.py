"""A Reversi engine that speaks GTP. It checks what it is told, and writes what it is told of time to stderr."""

import sys

import othello

COMMANDS = ["name", "version", "list_commands", "boardsize", "clear_board", "play", "genmove", "time_settings", "time_left", "quit"]
board = None


def answer(words):
    global board
    command, arguments = words[0], words[1:]
    if command == "name":
        return "Turner"
    if command == "version":
        return "1.0"
    if command == "list_commands":
        return "\n".join(COMMANDS)
    if command == "boardsize":
        assert arguments == ["8"], "unacceptable size"
        board = None
        return ""
    if command == "clear_board":
        board = othello.start()
        return ""
    if command in ("time_settings", "time_left"):
        print(" ".join(words), file=sys.stderr, flush=True)
        return ""
    if command in ("play", "genmove"):
        color = arguments[0][0]
        moves = othello.legal(board, color)
        if command == "genmove":
            move = othello.best(board, color) if moves else "pass"
        else:
            move = arguments[1]
        if move == "pass":
            assert not moves, f"{arguments[0]} can move"
            return move if command == "genmove" else ""
        othello.play(board, color, move)
        return move.upper() if command == "genmove" else ""
    assert command == "quit", "unknown command"
    return ""


for line in sys.stdin:
    words = line.split()
    if not words:
        continue
    try:
        text, sign = answer(words), "="
    except AssertionError as error:
        text, sign = str(error), "?"
        if words[0] in ("play", "genmove"):
            print(f"refused: {line.strip()}: {error}", file=sys.stderr, flush=True)
    sys.stdout.write(f"{sign} {text}\n\n")
    sys.stdout.flush()
    if words[0] == "quit":
        break
