# A child takes more than the memory, the program goes on.
# ends: exited 3
# writes: on
# flags: --timeout 50s --memory 64m
sh -c 'a=x; while :; do a=$a$a; done' 2>/dev/null
echo on
exit 3
