# A daemon in a session of its own keeps stdout open after the program has ended.
# ends: exited 0
# writes: done
# flags: --timeout 20s
setsid sh -c 'trap "" TERM HUP; sleep 60; echo late' &
echo done
