"""The ONLY place where protocol strings live (with helper.h for C and helper.sh for sh).
Adapt these three when the protocol changes; the attacks do not change. Written for version 1 of the protocol:

  > {"type":"hello","protocol":1,...}            < {"type":"ready","protocol":1,"name":...}
  > {"type":"start","game_id":...,"seat":1,...}
  > {"type":"turn","id":3,"seat":1,"ask":"move","state":{...},"legal":[...],...}
                                                 < {"type":"move","id":3,"move":...}
  > {"type":"ping","id":9}                       < {"type":"pong","id":9}
  > {"type":"end",...}   (another start may follow)   > {"type":"bye"}
"""
import json, os, random, sys, time

# ---- protocol ---------------------------------------------------------------
WAIT_FOR_HELLO = True            # the referee speaks first
T_HELLO, T_READY, T_TURN, T_MOVE, T_END, T_BYE = "hello", "ready", "turn", "move", "end", "bye"
REFEREE_TYPES = ("hello", "start", "turn", "end", "bye", "error", "played", "ping", "result")
HAS_LOG = False                  # no log message in version 1: log() writes to stderr
MOVE_LIMIT_S = 1.0               # the move limit that the attacks assume (MOVE_LIMIT_S in env overrides)
HONEST_TURNS = 1                 # honest turns before the abuse

def enc_hello(name, **extra):   return json.dumps(dict({"type": T_READY, "protocol": 1, "name": name, "version": "1"}, **extra))
def enc_move(rid, mv, **extra): return json.dumps(dict({"type": T_MOVE, "id": rid, "move": mv}, **extra))
def enc_log(text):              return json.dumps({"type": "log", "text": text})
def is_request(m):              return isinstance(m, dict) and m.get("type") == T_TURN
def is_ping(m):                 return isinstance(m, dict) and m.get("type") == "ping"
def enc_pong(m):                return json.dumps({"type": "pong", "id": m.get("id")})
def is_end(m):                  return isinstance(m, dict) and m.get("type") == T_BYE
def is_game_end(m):             return isinstance(m, dict) and m.get("type") == T_END
def rid(m):                     return m.get("id")
def legal(m):
    """One legal move for this request."""
    l = m.get("legal") or []
    return random.choice(l) if l else None
# field names the raw-JSON attacks need
K_TYPE, K_ID, K_MOVE, K_NAME, K_NOTE, K_EVAL = "type", "id", "move", "name", "note", "eval"
# ---- end of protocol ----------------------------------------------------------

MOVE_LIMIT_S = float(os.environ.get("MOVE_LIMIT_S", MOVE_LIMIT_S))
_in, _out = sys.stdin.buffer, sys.stdout.buffer
last = {}          # the request that is open
first = {}         # the referee's hello

def raw(b):
    """Bytes to the referee as they are, flushed."""
    if isinstance(b, str): b = b.encode("utf-8", "surrogatepass")
    _out.write(b); _out.flush()

def send(s): raw(s + "\n")

def recv():
    """One message of the referee; None at end of file."""
    line = _in.readline()
    if not line: return None
    try: return json.loads(line)
    except ValueError: return {"type": "?", "raw": line.decode("utf-8", "replace")}

def hello(name=None, **extra):
    global first
    if WAIT_FOR_HELLO:
        first = recv() or {}
    send(enc_hello(name if name is not None else os.path.basename(sys.argv[0]).rsplit(".", 1)[0], **extra))

def read():
    """Waits for the next request for a move (answers pings); leaves the process at the end of the session."""
    global last
    while True:
        m = recv()
        if m is None or is_end(m): raise SystemExit(0)
        if is_ping(m): send(enc_pong(m)); continue
        if is_request(m):
            last = m
            return m

def move(mv=None, m=None, **extra):
    """Answers the open request, honestly unless told otherwise."""
    m = m or last
    send(enc_move(rid(m), legal(m) if mv is None else mv, **extra))

def move_line(mv=None, m=None, **extra):
    """The line of an honest answer, without the line end, as bytes: for attacks that bend it."""
    m = m or last
    return enc_move(rid(m), legal(m) if mv is None else mv, **extra).encode()

def log(text):
    if HAS_LOG: send(enc_log(text))
    else: err(text)

def err(text):
    try: sys.stderr.write(text + "\n"); sys.stderr.flush()
    except Exception: pass

def play(n=None):
    """n honest turns (None: to the end of the game)."""
    k = 0
    while n is None or k < n:
        read(); move(); k += 1

def start(name=None, turns=None, **extra):
    """Handshake, the honest turns, then the open request on which the abuse happens."""
    hello(name, **extra)
    play(HONEST_TURNS if turns is None else turns)
    return read()

def rest():
    """Play on honestly to the end."""
    play(None)

# Confinement attacks say on stderr what came of it, once for each thing tried; then they play on.
def pwned(what):   err("PWNED " + what)
def blocked(what): err("BLOCKED " + what)
def tried(what, f):
    """f() returns something true when the abuse worked."""
    try: r = f()
    except BaseException as e:
        if isinstance(e, SystemExit): raise
        blocked("%s (%s)" % (what, str(e)[:80] or type(e).__name__)); return None
    (pwned if r else blocked)(what + ("" if not r or r is True else ": " + repr(r)[:120]))
    return r
def wr(path, data):
    """Unbuffered write; raises where it fails."""
    fd = os.open(path, os.O_WRONLY)
    try: return os.write(fd, data) > 0
    finally: os.close(fd)
def tmp_dirs():
    return [d for d in (os.environ.get("TMPDIR"), "/tmp", "/var/tmp", "/dev/shm") if d and os.path.isdir(d)]

def need_box():
    """The attacks that reach for other processes or the host act only inside a pid namespace; elsewhere they say so and play on."""
    if os.getpid() > 300:
        pwned("not in a pid namespace; refused to do it")
        move(); rest()
