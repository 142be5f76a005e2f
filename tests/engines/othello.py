"""The rules of Reversi for the engines of the tests, written without the program under test."""

DIRECTIONS = [(f, r) for f in (-1, 0, 1) for r in (-1, 0, 1) if (f, r) != (0, 0)]


def start():
    board = {}
    board["d4"] = board["e5"] = "w"
    board["e4"] = board["d5"] = "b"
    return board


def square(file, rank):
    return "abcdefgh"[file] + str(rank + 1) if 0 <= file < 8 and 0 <= rank < 8 else None


def other(color):
    return "w" if color == "b" else "b"


def turned(board, color, move):
    """The discs that a move turns; none: it is not legal."""
    if move in board:
        return []
    file, rank = "abcdefgh".index(move[0]), int(move[1]) - 1
    found = []
    for step_file, step_rank in DIRECTIONS:
        line = []
        at = square(file + step_file, rank + step_rank)
        steps = 1
        while at is not None and board.get(at) == other(color):
            line.append(at)
            steps += 1
            at = square(file + steps * step_file, rank + steps * step_rank)
        if at is not None and board.get(at) == color:
            found += line
    return found


def legal(board, color):
    squares = [square(file, rank) for file in range(8) for rank in range(8)]
    return [move for move in squares if turned(board, color, move)]


def play(board, color, move):
    line = turned(board, color, move)
    assert line, f"{color} {move} is not legal"
    for disc in line + [move]:
        board[disc] = color


def best(board, color):
    """The legal move that turns most discs, corners first."""
    return max(legal(board, color), key=lambda move: (move in ("a1", "a8", "h1", "h8"), len(turned(board, color, move)), move))
