# Its children leave its process group and its session, and ignore what is sent to the old ones.
# ends: wall_timeout
# flags: --timeout 1s --grace 200ms
trap '' TERM
setsid setsid sh -c 'trap "" TERM; setsid sleep 60 & sleep 60' &
while :; do sleep 60; done
