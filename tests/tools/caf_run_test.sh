#!/usr/bin/env bash
# tools/caf-run starts a fake program in every way that can go well or wrong,
# and leaves no process behind.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=${POTLUCK_BUILD_DIR:-$root/build}
fake=$build/tests/fake_program
needs "$fake"
dir=$scratch/traces

# hosts <line>...: the host file; and no traces of the launch before.
hosts() {
  rm -rf "$dir"
  mkdir "$dir"
  printf '%s\n' "$@" > "$scratch/hosts"
}
launch() {
  timeout 60 "$root/tools/caf-run" --hostfile="$scratch/hosts" "$@" \
    "$fake" --dir="$dir"
}
none_left() {
  local pid left=0
  while read -r pid; do
    if kill -0 "$pid" 2> /dev/null; then
      echo "process $pid is left"
      left=1
    fi
  done < "$dir/pids"
  return "$left"
}
ended() { # ended <processes that were started>
  expect 'all were started' 0 "^$1 " wc -l "$dir/pids"
  expect 'none is left' 0 '' none_left
}

hosts 'localhost command=master' \
  'localhost slots=2 command=serve wait serve' \
  '# between' 'localhost command=work' '127.0.0.1 command=serve serve'
expect 'a launch that goes well' 0 'master of 3 slaves' launch
expect 'servers are told by a message' 0 'by a message' cat "$dir/told"
ended 4

hosts 'localhost command=master'
expect 'a master alone' 0 'master of 0 slaves' launch
ended 1

hosts 'localhost command=master' 'localhost command=serve serve wait' \
  'localhost command=die'
expect 'a slave that dies before it reports' 1 \
  'line 3 \(localhost, die\) exited with status 3' launch
ended 2

hosts 'localhost command=master' 'localhost command=quit'
expect 'a slave that ends well before it reports' 1 \
  'line 2 \(localhost, quit\) ended before it reported' launch
ended 1

hosts 'localhost command=wait' 'localhost command=serve serve wait' \
  'localhost command=fail'
expect 'a slave that fails later' 1 \
  'line 3 \(localhost, fail\) exited with status 4' launch
ended 3

hosts 'localhost command=master' 'localhost command=mute'
expect 'a slave that never reports' 1 \
  'line 2 \(localhost, mute\) has not reported in time' launch --patience=1
ended 1

hosts 'localhost command=die' 'localhost command=serve serve'
expect 'a master that dies' 1 'line 1 \(localhost, die\) exited with' launch
ended 2

# Ctrl-C while all work: the launcher gets SIGINT once the master has started.
hosts 'localhost command=wait' 'localhost command=serve serve'
launch_and_interrupt() {
  "$build/bin/potluck-caf-run" --hostfile="$scratch/hosts" \
    "$fake" --dir="$dir" &
  local launcher=$!
  while [ ! -e "$dir/started" ]; do
    kill -0 "$launcher" || return 99
    read -rt 0.05 <> <(:) || true
  done
  kill -INT "$launcher"
  wait "$launcher"
}
expect 'an interruption' 130 'interrupted' launch_and_interrupt
ended 2

# The launcher is killed: its slaves notice and end by themselves.
hosts 'localhost command=wait' 'localhost command=serve serve'
launch_and_kill() {
  "$build/bin/potluck-caf-run" --hostfile="$scratch/hosts" \
    "$fake" --dir="$dir" &
  local launcher=$!
  while [ ! -e "$dir/started" ]; do
    kill -0 "$launcher" || return 99
    read -rt 0.05 <> <(:) || true
  done
  kill -KILL "$launcher"
  wait "$launcher"
  kill -TERM "$(tail -n 1 "$dir/pids")" # the master is none of CAF's slaves
  local tries=600
  while [ ! -e "$dir/told" ] && [ $((tries -= 1)) -gt 0 ]; do
    read -rt 0.05 <> <(:) || true
  done
  cat "$dir/told"
}
expect 'a launcher that is killed' 0 'by a message' launch_and_kill

hosts 'localhost command=master' 'localhost command=serve serve'
expect 'output in files' 0 '' launch --logs="$dir"
expect 'the file of line 2' 0 '' test -f "$dir/2-serve.log"

# what is written wrong
hosts 'localhost slots=0'
expect 'no slots, in words' 2 'hosts: line 1: .slots=0. needs a number' launch
expect 'no such host file' 2 "cannot read the host file '/nowhere'" \
  "$root/tools/caf-run" --hostfile=/nowhere true
expect 'no host file' 2 'which hosts' "$root/tools/caf-run" true
expect 'no program' 2 'which program' \
  "$root/tools/caf-run" --hostfile "$scratch/hosts"
expect 'no such option' 2 'no option --hostfiel' \
  "$root/tools/caf-run" --hostfiel=x true
hosts 'localhost command=x' 'localhost'
expect 'no such program' 1 'could not be started .*/no/such/program' \
  "$root/tools/caf-run" --hostfile="$scratch/hosts" /no/such/program
expect 'no build' 1 'run tools/build first' \
  env POTLUCK_BUILD_DIR=/nowhere "$root/tools/caf-run" --help

conclude
