#!/usr/bin/env python3
# ATTACK: symlinks and hard links from its folders to files of the host, for the referee's clean-up or log reading to follow
# EXPECT: CONTAINED
# HOLDS:  clean-up removes links, never their targets; the referee opens bot files with O_NOFOLLOW or not at all
# LEVEL:  limits
# DANGER: no
import helper as h
import os
h.start()
for d in h.tmp_dirs() + [os.getcwd()]:
    for i, t in enumerate(["/etc/passwd", "/", "/srv", os.path.expanduser("~"), ".."]):
        try: os.symlink(t, os.path.join(d, "link%d" % i))
        except OSError: pass
    try: os.link("/etc/passwd", os.path.join(d, "hard")); h.err("INFO hard link made in " + d)
    except OSError: pass
    try: os.mkfifo(os.path.join(d, "fifo"))
    except OSError: pass
h.move(); h.rest()
