#!/bin/sh
# ATTACK: looks at what it inherited: ignored or blocked signals, umask, core limit, nice, working folder
# EXPECT: CONTAINED
# HOLDS:  SigIgn and SigBlk are 0 (a Rust program ignores SIGPIPE and would hand that on), core limit 0, nice 0
# LEVEL:  limits
# DANGER: no
. "$(dirname "$0")/helper.sh"
h_start g07
ig=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status); bl=$(sed -n 's/^SigBlk:[[:space:]]*//p' /proc/self/status)
case "$ig$bl" in "") blocked "not readable";; 00000000000000000000000000000000) blocked "no signal is ignored or blocked";; *) pwned "SigIgn=$ig SigBlk=$bl";; esac
[ "$(ulimit -c)" = 0 ] && blocked "core limit 0" || pwned "core limit $(ulimit -c)"
echo "INFO umask $(umask) cwd $(pwd) nofile $(ulimit -n) nproc $(ulimit -u 2>/dev/null) nice $(nice)" >&2
h_rest
