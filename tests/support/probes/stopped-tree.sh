# Every process of the tree stops itself; a stopped process sees no TERM.
# ends: wall_timeout
# flags: --timeout 1s --grace 200ms
for i in 1 2 3 4; do sh -c 'kill -STOP $$; sleep 60' & done
kill -STOP $$
