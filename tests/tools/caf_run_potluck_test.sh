#!/usr/bin/env bash
# The example launch of tools/caf-run.d, with the real program: a seed, two
# trainers and an auxiliary peer train to the end of the run, from any folder;
# and the launch ends when one dies early, or with Ctrl-C.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=$(realpath "${POTLUCK_BUILD_DIR:-$root/build}")
needs "$build/bin/potluck" "$build/bin/potluck-caf-run"

# The example's files with a port that is free here, and logs to look at.
port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
prepare() { # prepare [<sed command for the trainers>]
  rm -rf "$scratch/run"
  mkdir "$scratch/run"
  cp "$root"/tools/caf-run.d/* "$scratch/run"
  sed -i "s/127\.0\.0\.1:7077/127.0.0.1:$port/" "$scratch"/run/*.ini
  for name in seed auxiliary trainer-1 trainer-2; do
    sed -i "1i log-json=\"$scratch/run/$name.jsonl\"" "$scratch/run/$name.ini"
  done
  [ -z "${1:-}" ] || sed -i "$1" "$scratch"/run/trainer-*.ini
}
launch() {
  (cd "$scratch/run" && exec timeout -k 5 200 "$build/bin/potluck-caf-run" \
    --hostfile=localhost.hosts --config-dir="$scratch/run" --logs=. "$build/bin/potluck")
}
# await <regex> <file>: until the log has such a line, or the launch is over.
await() {
  local tries=2400
  while ! grep -Eqs "$1" "$2"; do
    [ $((tries -= 1)) -gt 0 ] && kill -0 "$launcher" 2> /dev/null || {
      echo "no '$1' in $2"
      return 1
    }
    read -rt 0.05 <> <(:) || true
  done
}
# None of the peers may be left: each is known by its configuration file.
none_left() {
  local left
  left=$(ps -eo pid=,args= | grep -F -- "--config-file=$scratch/run/" \
           | grep -F "$build/bin/potluck" | grep -v grep)
  [ -z "$left" ] || {
    echo "left: $left"
    return 1
  }
}

# equal_digests <steps>: every trainer reached the end, with one state a step,
# and both trained.
equal_digests() {
  python3 - "$1" "$scratch"/run/trainer-{1,2}.jsonl <<'EOF'
import json
import sys

steps, states, shares = int(sys.argv[1]), {}, {}
for path in sys.argv[2:]:
    events = [json.loads(line) for line in open(path)]
    finished = [x for x in events if x["event"] == "finished"]
    assert len(finished) == 1 and finished[0]["step"] == steps, (path, finished)
    for x in events:
        if x["event"] in ("step", "state_download"):
            states.setdefault(x["step"], set()).add(x["digest"])
        if x["event"] == "step":
            shares[path] = shares.get(path, 0) + x["share"]
assert all(len(x) == 1 for x in states.values()), states
assert len(shares) == 2 and all(x > 0 for x in shares.values()), shares
print(f"one state at each of {len(states)} steps")
EOF
}

steps=$(sed -n 's/^steps=//p' "$root/tools/caf-run.d/trainer-1.ini")
prepare
expect 'the example launch' 0 '' launch
expect 'equal digests to the end' 0 'one state at each of' equal_digests "$steps"
expect 'the auxiliary peer met the trainers' 0 '' \
  grep -q '"event":"join".*"role":"trainer"' "$scratch/run/auxiliary.jsonl"
expect 'nobody is left' 0 '' none_left

# A run that does not end by itself, for what comes from outside.
begin() {
  prepare 's/^steps=.*/steps=1000000/'
  (cd "$scratch/run" && exec "$build/bin/potluck-caf-run" \
    --hostfile=localhost.hosts --config-dir="$scratch/run" --logs=. "$build/bin/potluck") &
  launcher=$!
  await '"event":"step"' "$scratch/run/trainer-1.jsonl" \
    && await '"event":"step"' "$scratch/run/trainer-2.jsonl" && return
  kill -INT "$launcher"
  wait "$launcher"
  return 99
}
pid_of() { # pid_of <configuration file>
  ps -eo pid=,args= | awk -v bin="$build/bin/potluck" -v conf="/$1" \
    '$2 == bin && index($0, conf) { print $1; exit }'
}
kill_a_slave() {
  begin || return
  kill -KILL "$(pid_of trainer-2.ini)"
  wait "$launcher"
}
expect 'a trainer that is killed ends the launch' 1 \
  'line [0-9]+ \(localhost, join\) was ended by signal 9' kill_a_slave
expect 'nobody is left' 0 '' none_left

interrupt() {
  begin || return
  local begun=$SECONDS
  kill -INT "$launcher"
  wait "$launcher"
  local status=$?
  [ $((SECONDS - begun)) -le 5 ] || echo 'too slow'
  return "$status"
}
expect 'Ctrl-C ends the launch' 130 'interrupted' interrupt
expect 'nobody is left' 0 '' none_left
expect 'the peers said goodbye' 0 '' \
  grep -q '"event":"departure".*"orderly":true' "$scratch/run/seed.jsonl"

# The launch fails when a slave cannot be what its file says.
prepare
sed -i 's/^role=.*/role="auxiliry"/' "$scratch/run/auxiliary.ini"
expect 'a slave with a wrong option' 1 \
  'line [0-9]+ \(localhost, join\) exited with status 2' launch
expect 'its sentence is in its log' 0 'is not a role' \
  sh -c "cat '$scratch'/run/*-join.log"
expect 'nobody is left' 0 '' none_left

conclude
