# Ignores every signal that can be ignored.
# ends: wall_timeout
# flags: --timeout 1s --grace 200ms
trap '' TERM INT HUP QUIT PIPE USR1 USR2
while :; do sleep 60; done
