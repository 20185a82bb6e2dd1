#!/bin/sh
# Ends the PostgreSQL of the tests some seconds after the last of them.
#
# Whoever uses it holds a shared lock on `users`, and whoever joins does so under the lock
# `door`. With the door locked and no user inside, nobody can be about to come in.
#
# Arguments: the folder, the process id of the server.
cd "$1" || exit 1
while :; do
    flock --exclusive users true
    # More tests may come at once; starting anew would take them a second.
    sleep 5
    exec 9>door
    flock --exclusive 9
    if flock --exclusive --nonblock users true; then
        # A fast shutdown; then, if that does not help, no more waiting.
        kill -INT "$2"
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            kill -0 "$2" 2>/dev/null || break
            sleep 1
        done
        kill -KILL "$2" 2>/dev/null
        rm -rf data port log
        exit 0
    fi
    exec 9>&-
done
