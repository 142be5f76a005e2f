"""A bot that has others do its work for each of its first turns: its own process spins at the lowest priority, as if it waited for a core.

Arguments: `orphans`, whose work is waited for by nobody of the bot, or `forgotten`, whose parent has the system forget it; and the
seconds of work.
"""
import json
import os
import signal
import sys
import time

HOW, SECONDS = sys.argv[1], float(sys.argv[2])
# Each worker lives for so short a time that nobody sees it but by chance.
PIECE = 0.02
WORKING_TURNS = 2


def work():
    begin = time.process_time()
    while time.process_time() - begin < PIECE:
        pass


def worker():
    """One piece of work in a process that is gone when this returns."""
    done, tell = os.pipe()
    child = os.fork()
    if child == 0:
        if HOW == "forgotten" or os.fork() == 0:
            work()
            os.write(tell, b".")
        os._exit(0)
    os.close(tell)
    if HOW == "orphans":
        os.waitpid(child, 0)
    os.read(done, 1)
    os.close(done)


def manage(wishes, told):
    if HOW == "forgotten":
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while os.read(wishes, 1):
        for _ in range(round(SECONDS / PIECE)):
            worker()
        os.write(told, b".")
    os._exit(0)


def main():
    wishes, wish = os.pipe()
    done, told = os.pipe()
    if os.fork() == 0:
        os.close(wish)
        os.close(done)
        manage(wishes, told)
    os.close(wishes)
    os.close(told)
    os.set_blocking(done, False)
    os.nice(19)
    turns = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print(json.dumps({"type": "ready", "protocol": 1}))
        elif message["type"] == "turn":
            turns += 1
            if turns <= WORKING_TURNS:
                os.write(wish, b".")
                while True:
                    try:
                        os.read(done, 1)
                        break
                    except BlockingIOError:
                        pass
            print(json.dumps({"type": "move", "id": message["id"], "move": message["legal"][0]}))


main()
