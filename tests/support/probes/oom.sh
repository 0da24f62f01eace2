# The program itself takes more than its memory.
# ends: oom
# flags: --timeout 50s --memory 64m
a=x
while :; do a=$a$a; done
