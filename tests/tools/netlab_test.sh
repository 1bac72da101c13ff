#!/usr/bin/env bash
# tools/netlab: rates as described, pairs that are blocked, clean-up whatever
# ends it, and the stand-in without namespaces.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=$(realpath "${POTLUCK_BUILD_DIR:-$root/build}")
export POTLUCK_BUILD_DIR=$build
if [ ! -x "$build/bin/potluck-netlab" ]; then
  echo "'$build/bin/potluck-netlab' is not built"
  exit 77 # ctest's "skipped"
fi
netlab=$root/tools/netlab
mark=4321.$$ # Seconds that no other sleep has.

expect "help" 0 "usage: netlab" "$netlab" --help
expect "no description" 2 "which network" "$netlab"
expect "an unknown option" 2 "no option --fast" "$netlab" --fast x.json
expect "a description that is not there" 2 "cannot be read" "$netlab" nowhere.json
echo '{"hosts": [{"name": "a", "uplaod": "1mbit"}]}' > "$scratch/typo.json"
expect "a typing error" 2 "did you mean .upload" "$netlab" "$scratch/typo.json"
echo '{"hosts": [{"name": "a"}]}' > "$scratch/idle.json"
expect "a description without mistakes" 0 "" "$netlab" --check "$scratch/idle.json"
mkdir "$scratch/full" && touch "$scratch/full/x"
expect "a folder that is in use" 2 "is not empty" \
  "$netlab" --out "$scratch/full" "$scratch/idle.json"

# Without namespaces: whatever the machine is like.
cat > "$scratch/plain.json" << END
{"hosts": [{"name": "a"}, {"name": "b"}],
 "commands": [
   {"host": "a", "words": ["bash", "-c", "echo {address} {address:b}; exit 4"]},
   {"host": "b", "words": ["echo", "{network:7000}"]}]}
END
expect "a command that fails, without namespaces" 1 "exited with status 4" \
  "$netlab" --without-namespaces --out="$scratch/plain" "$scratch/plain.json"
expect "its addresses" 0 "^127\.1\.[0-9]+\.1 127\.1\.[0-9]+\.2$" \
  cat "$scratch/plain/a.txt"
expect "its peer's options" 0 "^.-listen=127\.2.*:7000 --announce=127\.1.*:7000 --dial-from=127\.1" \
  cat "$scratch/plain/b.txt"

# How many of our sleeps there are, whatever their namespace.
echo "sleep $mark" > "$scratch/sleep"
running() { cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\0' ' ' | grep -Fo -f "$scratch/sleep" | wc -l; }

# What is left of the lab's processes, whatever their namespace.
leftovers() {
  local found=0 try
  for try in $(seq 50); do
    found=$(running)
    [ "$found" -eq 0 ] && break
    sleep 0.1
  done
  if [ "$found" -ne 0 ]; then
    echo "$found processes are left"
    return 1
  fi
  if [ -n "$1" ] && readlink /proc/[0-9]*/ns/net 2> /dev/null | grep -qxF "$1"; then
    echo "the namespace $1 is left"
    return 1
  fi
  if [ "$(ls /sys/class/net /run/netns 2>&1)" != "$networks" ]; then
    echo "interfaces changed:" && ls /sys/class/net
    return 1
  fi
}

# ended_by <signal> <option>...: starts a lab, ends it so; its exit status.
ended_by() {
  local signal=$1 lab status space=
  shift
  rm -rf "$scratch/ended"
  networks=$(ls /sys/class/net /run/netns 2>&1)
  "$build/bin/potluck-netlab" "$@" --out "$scratch/ended" "$scratch/long.json" &
  lab=$!
  until [ -s "$scratch/ended/a.txt" ] && [ -s "$scratch/ended/b.txt" ]; do
    kill -0 $lab || return 99
    sleep 0.05
  done
  [ $# -eq 0 ] && space=$(head -n 1 "$scratch/ended/a.txt")
  kill -s "$signal" $lab
  wait $lab
  status=$?
  leftovers "$space" || return 98
  return $status
}

# Commands with children of their own, one of which ignores what it may.
cat > "$scratch/long.json" << END
{"hosts": [{"name": "a"}, {"name": "b"}],
 "commands": [
   {"host": "a", "words": ["bash", "-c",
    "readlink /proc/self/ns/net; sleep $mark & sleep $mark"]},
   {"host": "b", "serve": true, "words": ["bash", "-c",
    "trap '' INT; echo up; setsid sleep $mark & sleep $mark"]}]}
END

if ! "$netlab" --out "$scratch/able" "$scratch/idle.json" 2> "$scratch/able.txt" \
    && grep -q "cannot be made here" "$scratch/able.txt"; then
  sed 's/^/skipped the rest: /' "$scratch/able.txt"
  conclude
fi
expect "no commands" 1 "has no commands" "$netlab" --out "$scratch/none" "$scratch/idle.json"

expect "Ctrl-C" 130 "" ended_by INT
expect "SIGTERM" 130 "" ended_by TERM
expect "SIGKILL" 137 "" ended_by KILL
cat > "$scratch/orphan.json" << END
{"hosts": [{"name": "a"}],
 "commands": [{"host": "a", "words": ["bash", "-c", "sleep $mark & exit 0"]}]}
END
networks=$(ls /sys/class/net /run/netns 2>&1)
expect "a command that leaves children" 0 "" \
  "$netlab" --out "$scratch/orphan" "$scratch/orphan.json"
expect "they end, too" 0 "" leftovers ""

# Rates. One TCP transfer after the other, for four seconds each.
cat > "$scratch/sink.py" << 'END'
import socket, sys, time
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listening.bind((sys.argv[1], 5000))
listening.listen()
for _ in range(int(sys.argv[2])):
    source, _ = listening.accept()
    count, begin, end = 0, None, 0
    while True:
        data = source.recv(65536)
        if not data:
            break
        # The first second is TCP's start.
        end = time.time()
        begin = begin or end
        if end - begin > 1:
            count += len(data)
    print("%.1f" % (count * 8 / 1e6 / (end - begin - 1)), flush=True)
END
cat > "$scratch/source.py" << 'END'
import socket, sys, time
try:
    to = socket.create_connection((sys.argv[1], 5000), timeout=1.5)
except OSError:
    sys.exit(9)
end = time.time() + 4
while time.time() < end:
    to.sendall(bytes(16384))
END
cat > "$scratch/rates.json" << END
{"hosts": [{"name": "a", "upload": "20mbit", "delay": "10ms"},
           {"name": "b", "delay": "15ms"},
           {"name": "c", "download": "8mbit", "delay": "5ms", "jitter": "2ms"}],
 "links": [{"from": "b", "to": "c", "both": true, "blocked": true}],
 "changes": [{"at": "8s", "host": "a", "upload": "10mbit"}],
 "commands": [
   {"host": "b", "words": ["python3", "$scratch/sink.py", "{address}", "2"]},
   {"host": "c", "words": ["python3", "$scratch/sink.py", "{address}", "1"]},
   {"host": "a", "name": "fast", "starts_at": "1s",
    "words": ["python3", "$scratch/source.py", "{address:b}"]},
   {"host": "a", "name": "halved", "starts_at": "8s",
    "words": ["python3", "$scratch/source.py", "{address:b}"]},
   {"host": "a", "name": "slow", "starts_at": "15s",
    "words": ["python3", "$scratch/source.py", "{address:c}"]},
   {"host": "b", "name": "blocked", "starts_at": "1s", "words": ["bash", "-c",
    "python3 $scratch/source.py {address:c}; echo status \$?"]},
   {"host": "b", "name": "far", "starts_at": "1s", "words": ["python3", "-c",
    "import socket, time; t = time.time(); socket.socket().connect_ex(('{address:a}', 9)); print(round(1000 * (time.time() - t)))"]}]}
END
networks=$(ls /sys/class/net /run/netns 2>&1)
carried() { # carried <Mbit/s> <of the line>
  awk -v is="$1" -v line="$2" 'BEGIN { print is, line; exit !(is > 0.85 * line && is < 1.15 * line) }'
}
prompt() { grep -Eqx "5[0-9]|6[0-5]" "$scratch/rates/far.txt"; }
# A machine that stalls makes TCP wait: what passes is less than the line
# carries, or late. Then it is measured again. More must never pass.
for _ in 1 2 3; do
  rm -rf "$scratch/rates"
  expect "a lab that ends well" 0 "" "$netlab" --out "$scratch/rates" "$scratch/rates.json"
  mapfile -t rates < <(cat "$scratch/rates/b.txt" "$scratch/rates/c.txt")
  echo "measured, in Mbit/s: ${rates[*]}; a round trip in ms: $(cat "$scratch/rates/far.txt")"
  expect "no more than the lines carry" 0 "" \
    awk -v is="${rates[*]}" 'BEGIN { split(is, x); exit !(x[1] < 23 && x[2] < 11.5 && x[3] < 9.2) }'
  prompt && carried "${rates[0]:-0}" 20 && carried "${rates[1]:-0}" 10 \
    && carried "${rates[2]:-0}" 8 && break
done
expect "an upload of 20 Mbit/s" 0 "" carried "${rates[0]:-0}" 20
expect "the same, halved meanwhile" 0 "" carried "${rates[1]:-0}" 10
expect "a download of 8 Mbit/s" 0 "" carried "${rates[2]:-0}" 8
expect "a round trip of 50 ms" 0 "" prompt
expect "a blocked pair" 0 "status 9" cat "$scratch/rates/blocked.txt"
expect "the lab's counts" 0 "\"blocked\": [1-9]" cat "$scratch/rates/netlab.json"
expect "nothing is left" 0 "" leftovers ""
conclude
