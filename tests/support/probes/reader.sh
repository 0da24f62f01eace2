# Reads standard input until it ends, which it does at once where nobody asked for it.
# ends: exited 0
# writes: 0
# flags: --timeout 20s
wc -c
