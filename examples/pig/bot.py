"""A bot for Pig: it holds when so much lies on the table, or when that is enough to win."""

import json
import sys

limit, target = 20, 50

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        limit = message["options"].get("limit", limit)
        target = message["rules"]["target"]
        print(json.dumps({"type": "ready", "protocol": 1, "name": f"Hold at {limit}"}), flush=True)
    elif message["type"] == "ping":
        print(json.dumps({"type": "pong", "id": message["id"]}), flush=True)
    elif message["type"] == "turn":
        state = message["state"]
        table, mine = state["table"], state["points"][message["seat"]]
        enough = table and (table >= limit or mine + table >= target)
        move = {"type": "move", "id": message["id"], "move": "hold" if enough else "roll"}
        print(json.dumps(move), flush=True)
