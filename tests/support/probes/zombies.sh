# Thousands of children end and nobody waits for them: exec leaves them to a program that never does.
# ends: exited 0
# flags: --timeout 50s --pids 4000
i=0
while [ $i -lt "${ZOMBIES:-200}" ]; do true & i=$((i + 1)); done
exec sleep 1
