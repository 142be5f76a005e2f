#!/bin/sh
# Is the bot in ./bot better than the built-in one, or at least no worse than was measured before?
#
#   examples/ci/gate.sh            a gate: exit code 0 accepted, 1 rejected, 4 no decision within the budget
#   examples/ci/gate.sh measure    measures the bot and notes its strength in strength.json, for later gates
#
# BOT, BASELINE, GAME and OUT may be set from outside.
set -eu

mode=${1:-gate}
bot=${BOT:-./bot}
baseline=${BASELINE:-builtin:greedy}
game=${GAME:-mangala}
out=${OUT:-gate}

# Bots that are functions of the turn play the same game again and again without openings, and copies are no evidence.
set -- gate --game "$game" --candidate "$bot" --baseline "$baseline" --opening-plies 6 \
    --max-games 2000 --max-time 10m --out "$out"

if [ "$mode" = measure ]; then
    exec hakem "$@" --baseline-file strength.json --update-baseline
fi
if [ -f strength.json ]; then
    set -- "$@" --baseline-file strength.json
fi
exec hakem "$@" --junit gate.xml --format json
