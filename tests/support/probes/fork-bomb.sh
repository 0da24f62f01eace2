# Doubles until no further process can be had, then tries on.
# ends: wall_timeout or exited
# flags: --timeout 2s --pids 60 --best-effort
bomb() { bomb | bomb & }
bomb
sleep 60
