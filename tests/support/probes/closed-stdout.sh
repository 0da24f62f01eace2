# Closes its streams and goes on; their end is not the program's.
# ends: exited 5
# flags: --timeout 20s
exec <&- >&- 2>&-
sleep 1
exit 5
