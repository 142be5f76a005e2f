"""A bot that plays honestly and does one thing besides on its second turn, named by its first argument."""
import json
import os
import resource
import subprocess
import sys
import threading
import time


def say(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def send(message):
    # Not flushed: that is what PYTHONUNBUFFERED is for.
    print(json.dumps(message))


def attempt(action):
    try:
        return action()
    except OSError as error:
        return "errno %s" % error.errno


def write(path):
    with open(path, "w") as file:
        file.write("x")
    os.unlink(path)
    return "written"


def names(folder):
    try:
        return os.listdir(folder)
    except OSError:
        return []


def interfaces():
    try:
        with open("/proc/net/dev") as file:
            return sorted(line.split(":")[0].strip() for line in file.read().splitlines()[2:])
    except OSError:
        return []


def look():
    """Tells what is seen from inside, as one line of JSON."""
    import pwd
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
    done = []
    thread = threading.Thread(target=lambda: done.append("thread"))
    thread.start()
    thread.join()
    room = os.statvfs("/tmp")
    say("LOOK " + json.dumps({
        "uid": os.getuid(),
        "user": ([user.pw_name for user in pwd.getpwall() if user.pw_uid == os.getuid()] or [None])[0],
        "pid": os.getpid(),
        "group": os.getpgid(0) == os.getpid(),
        "terminal": attempt(lambda: os.close(os.open("/dev/tty", os.O_RDWR)) or "opened"),
        "processes": sorted(int(name) for name in os.listdir("/proc") if name.isdigit()),
        "files": sorted(int(name) for name in os.listdir("/proc/self/fd") if int(name) < 3),
        "more_files": len([name for name in os.listdir("/proc/self/fd") if int(name) > 3]),
        "env": sorted(os.environ),
        "cwd": os.getcwd(),
        "home": os.environ.get("HOME"),
        "write_cwd": attempt(lambda: write("written")),
        "write_home": attempt(lambda: write(os.path.join(os.environ["HOME"], "written"))),
        "write_tmp": attempt(lambda: write("/tmp/written")),
        "write_etc": attempt(lambda: write("/etc/written")),
        "write_usr": attempt(lambda: write("/usr/written")),
        "read_host": attempt(lambda: open("/etc/hostname").read(0) or "read"),
        "folders": sorted(names("/")),
        "tmp_bytes": room.f_blocks * room.f_frsize,
        "tmp_files": room.f_files,
        "privileges": status["NoNewPrivs"].strip(),
        "seccomp": status["Seccomp"].strip(),
        "capabilities": status["CapEff"].strip(),
        "ignored": status["SigIgn"].strip(),
        "blocked": status["SigBlk"].strip(),
        "core": resource.getrlimit(resource.RLIMIT_CORE)[1],
        "open_files": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        "address_space": resource.getrlimit(resource.RLIMIT_AS)[1] == resource.RLIM_INFINITY,
        "oom": open("/proc/self/oom_score_adj").read().strip(),
        "network": interfaces(),
        "shell": attempt(lambda: subprocess.run(["sh", "-c", "echo $((6 * 7))"], capture_output=True, text=True).stdout.strip()),
        "threads": done,
        "affinity": attempt(lambda: os.sched_setaffinity(0, {0}) or "set"),
    }))


def memory():
    kept = []
    while True:
        kept.append(bytearray(b"x" * (1 << 20)))


def one_piece():
    bytearray(8 << 30)


def children():
    """Memory that no child alone has too much of."""
    for _ in range(6):
        if os.fork() == 0:
            kept = bytearray(os.urandom(1 << 20) * 20)
            time.sleep(60)
            os._exit(len(kept) % 2)
    time.sleep(60)


def held():
    """Memory in files without a name, which is mapped nowhere."""
    kept = []
    while True:
        kept.append(os.memfd_create("x"))
        for _ in range(8):
            os.write(kept[-1], b"x" * (1 << 20))


def disk():
    """Small files, one after the other, until it fails."""
    number = 0
    while True:
        with open(os.path.join(os.environ["TMPDIR"], str(number)), "wb") as file:
            file.write(b"x" * (1 << 20))
            os.fsync(file.fileno())
        number += 1


def large_file():
    with open(os.path.join(os.environ["TMPDIR"], "large"), "wb") as file:
        while True:
            file.write(b"x" * (1 << 20))


def processes():
    while True:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)


def crash():
    sys.exit(3)


def daemon():
    """A child that leaves the session, whose parent goes away, and that ignores what it can."""
    import signal
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        for fd in range(3):
            os.close(fd)
        time.sleep(600)
        os._exit(0)


def wait():
    """Tells somebody outside that it is here, by a file if it can, and waits."""
    time.sleep(600)


def main():
    action = globals().get(sys.argv[1]) if len(sys.argv) > 1 else None
    turns = 0
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            send({"type": "ready", "protocol": 1, "name": "bot", "version": "1"})
        elif message["type"] == "ping":
            send({"type": "pong", "id": message["id"]})
        elif message["type"] == "bye":
            return
        elif message["type"] == "turn":
            turns += 1
            if turns == 2 and action:
                action()
            send({"type": "move", "id": message["id"], "move": message["legal"][0]})


main()
