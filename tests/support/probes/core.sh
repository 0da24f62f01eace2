# Dies with a signal that dumps core where that is allowed.
# ends: signaled 11
# flags: --timeout 20s
cd /tmp || exit 9
kill -SEGV $$
