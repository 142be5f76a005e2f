"""A Reversi engine that speaks the NBoard protocol. It checks what it is told."""

import re
import sys

import othello

depth = None
board, color = None, None
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    if word == "nboard":
        assert rest == "2", line
        print("status ready")
    elif word == "set":
        what, _, value = rest.partition(" ")
        if what == "depth":
            depth = int(value)
            print(f"set myname Turner{depth}")
        elif what == "game":
            squares, turn = re.search(r"BO\[8 ([-*O]{64}) ([*O])\]", value).groups()
            board = {}
            for index, disc in enumerate(squares):
                if disc != "-":
                    board[othello.square(index % 8, index // 8)] = "b" if disc == "*" else "w"
            color = "b" if turn == "*" else "w"
    elif word == "ping":
        print(f"pong {rest}")
    elif word == "go":
        assert depth is not None
        move = othello.best(board, color)
        print("status thinking")
        print(f"search {move} 1.00 0 {depth}")
        print("nodestats 1 0.00")
        # Both spellings of what follows the move are in use.
        print(f"=== {move.upper()}/1.00/0.1" if len(board) % 2 else f"=== {move} 1.00 0.1")
    elif word == "quit":
        break
    sys.stdout.flush()
