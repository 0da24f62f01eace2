# Fills /tmp with bytes, then with empty files: the file system says no, nothing else happens.
# ends: exited 0
# writes: full full
# flags: --timeout 50s --tmpfs /tmp:size=4m,inodes=500
cd /tmp || exit 9
head -c 9m /dev/zero >bytes 2>/dev/null || printf 'full '
rm bytes
i=0
while [ $i -lt 600 ] && true 2>/dev/null >f$i; do i=$((i + 1)); done
[ $i -lt 600 ] && echo full
