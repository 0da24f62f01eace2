# Thousands of grandchildren whose parents end first: the sandbox's init reaps them, or the pids limit would be reached.
# ends: exited 0
# writes: 200
# flags: --timeout 50s --pids 40
i=0
while [ $i -lt 200 ]; do
  until (true &) 2>/dev/null; do sleep 0.05; done
  i=$((i + 1))
done
echo $i
