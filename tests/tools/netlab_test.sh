#!/usr/bin/env bash
# tools/netlab: rates as described, pairs that are blocked, clean-up whatever
# ends it, and the stand-in without namespaces.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=$(realpath "${POTLUCK_BUILD_DIR:-$root/build}")
export POTLUCK_BUILD_DIR=$build
needs "$build/bin/potluck-netlab"
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
  skip "$(cat "$scratch/able.txt")"
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

# By IPv6: a home that has nothing else, and a host that all can dial.
cat > "$scratch/serve.py" << 'END'
# serve.py: says to who comes by which address that is.
import socket
s = socket.create_server(("::", 5000), family=socket.AF_INET6)
peer, where = s.accept()
peer.sendall(where[0].encode())
END
cat > "$scratch/ask.py" << 'END'
# ask.py [ADDRESS]:PORT: what is said there, once somebody listens.
import socket, sys, time
host, port = sys.argv[1].rsplit(":", 1)
while True:
    try:
        s = socket.create_connection((host.strip("[]"), int(port)), 1)
        break
    except OSError:
        time.sleep(0.05)
print(s.recv(100).decode(), sys.argv[2])
END
cat > "$scratch/six.json" << END
{"lasts": "60s", "hosts": [{"name": "hub"}, {"name": "home", "router": "ipv6-only"}],
 "commands": [
   {"host": "hub", "words": ["python3", "$scratch/serve.py"]},
   {"host": "home", "words": ["python3", "$scratch/ask.py", "{address6:hub}:5000",
    "{address}"]}]}
END
networks=$(ls /sys/class/net /run/netns 2>&1)
if "$netlab" --out "$scratch/six" "$scratch/six.json" 2> "$scratch/six.txt"; then
  expect "a home without IPv4 is seen as what it is" 0 "^(3fff:\S+) \1$" \
    cat "$scratch/six/home.txt"
  expect "nothing of it is left" 0 "" leftovers ""
elif grep -Eq "no IPv6|nft" "$scratch/six.txt"; then
  without_ipv6=$(cat "$scratch/six.txt")
else
  expect "a lab with a home without IPv4" 0 "" bash -c "cat $scratch/six.txt; false"
fi

# Rates. Datagrams, more than the line carries, for six seconds each: TCP
# would also show how it takes the stalls of a busy machine.
cat > "$scratch/sink.py" << 'END'
# sink.py ADDRESS COUNT: of each flow what passed a second, over the whole time
# and in its best second, by the times at which the kernel received it.
import socket, struct, sys
SO_TIMESTAMPNS = 35
flows = {}
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
s.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
s.bind((sys.argv[1], 5000))
ended = 0
while ended < int(sys.argv[2]):
    data, extra, _, source = s.recvmsg(2048, 64)
    seconds, nanoseconds = struct.unpack("qq", extra[0][2][:16])
    flow = flows.setdefault(source, [])
    if len(data) > 1:
        flow.append((seconds + nanoseconds / 1e9, len(data)))
    elif flow:
        ended += 1
        begin, end = flow[0][0], flow[-1][0]
        best, held, first = 0, 0, 0
        for at, size in flow:
            held += size
            while flow[first][0] < at - 1:
                held -= flow[first][1]
                first += 1
            best = max(best, held)
        whole = sum(size for _, size in flow) / (end - begin)
        print("%.1f %.1f" % (whole * 8 / 1e6, best * 8 / 1e6), flush=True)
        flow.clear()
END
cat > "$scratch/source.py" << 'END'
# source.py ADDRESS: 32 Mbit/s, then a few short datagrams that say the end.
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], 5000))
begin = time.time()
sent = 0
while time.time() < begin + 6:
    due = (time.time() - begin) * 4e6
    sent = max(sent, due - 100000)
    while sent < due:
        s.send(bytes(1400))
        sent += 1400
    time.sleep(0.002)
try:
    for _ in range(20):
        time.sleep(0.1)
        s.send(b"x")
except ConnectionRefusedError:
    pass # Who listened has heard it.
END
cat > "$scratch/probe.py" << 'END'
# probe.py ADDRESS COUNT: milliseconds until it refuses a connection, at best of
# so many times in as many half seconds.
import socket, sys, time
def once():
    begin = time.time()
    s = socket.socket()
    s.settimeout(1.5)
    try:
        s.connect((sys.argv[1], 9))
    except ConnectionRefusedError:
        return time.time() - begin
    except OSError:
        sys.exit("no answer")
best = once()
for _ in range(int(sys.argv[2]) - 1):
    time.sleep(0.5)
    best = min(best, once())
print(round(1000 * best))
END
cat > "$scratch/rates.json" << END
{"hosts": [{"name": "a", "upload": "20mbit", "delay": "10ms"},
           {"name": "b", "delay": "15ms"},
           {"name": "c", "download": "8mbit", "delay": "5ms", "jitter": "2ms"},
           {"name": "d", "delay": "10ms"}],
 "links": [{"from": "b", "to": "c", "both": true, "blocked": true}],
 "changes": [{"at": "10s", "host": "a", "upload": "10mbit"}],
 "commands": [
   {"host": "b", "words": ["python3", "$scratch/sink.py", "{address}", "2"]},
   {"host": "c", "words": ["python3", "$scratch/sink.py", "{address}", "1"]},
   {"host": "a", "name": "fast", "starts_at": "1s",
    "words": ["python3", "$scratch/source.py", "{address:b}"]},
   {"host": "a", "name": "halved", "starts_at": "11s",
    "words": ["python3", "$scratch/source.py", "{address:b}"]},
   {"host": "d", "name": "slow", "starts_at": "1s",
    "words": ["python3", "$scratch/source.py", "{address:c}"]},
   {"host": "b", "name": "blocked", "starts_at": "1s", "words": ["bash", "-c",
    "python3 $scratch/probe.py {address:c} 1; echo status \$?"]},
   {"host": "b", "name": "far", "starts_at": "1s",
    "words": ["python3", "$scratch/probe.py", "{address:d}", "30"]}]}
END
networks=$(ls /sys/class/net /run/netns 2>&1)
# carried <the whole> <the best second> <of the line>, in Mbit/s: a machine
# that stalls loses time of the line's, but more than it carries never passes.
carried() {
  awk -v whole="$1" -v best="$2" -v line="$3" \
    'BEGIN { print whole, best, line; exit !(whole < 1.1 * line && best > 0.85 * line) }'
}
# Never sooner than the delays; later when the machine stalls, but not twice.
prompt() { grep -Eqx "[5-8][0-9]" "$scratch/rates/far.txt"; }
expect "a lab that ends well" 0 "" "$netlab" --out "$scratch/rates" "$scratch/rates.json"
mapfile -t rates < <(cat "$scratch/rates/b.txt" "$scratch/rates/c.txt")
echo "measured, in Mbit/s: ${rates[*]}; a round trip in ms: $(cat "$scratch/rates/far.txt")"
# The measurements are two words each.
# shellcheck disable=SC2086
{
  expect "an upload of 20 Mbit/s" 0 "" carried ${rates[0]:-0 0} 20
  expect "the same, halved meanwhile" 0 "" carried ${rates[1]:-0 0} 10
  expect "a download of 8 Mbit/s" 0 "" carried ${rates[2]:-0 0} 8
}
expect "a round trip of 50 ms" 0 "" prompt
expect "a blocked pair" 0 "status 1" cat "$scratch/rates/blocked.txt"
expect "the lab's counts" 0 "\"blocked\": [1-9]" cat "$scratch/rates/netlab.json"
expect "nothing is left" 0 "" leftovers ""
[ -z "$without_ipv6" ] || skip "a home without IPv4: $without_ipv6"
conclude
