# Output that never ends a line.
# ends: wall_timeout
# flags: --timeout 1s --grace 200ms --output-limit 64k
while :; do printf yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done
