# Far more output than anybody keeps; all of it is counted.
# ends: exited 0
# flags: --timeout 50s --output-limit 1m
bytes=${FLOOD_BYTES:-104857600}
head -c "$bytes" /dev/zero
