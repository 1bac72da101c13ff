# For trials of potluck on an emulated internet, behind assert.sh: a machine of
# its own for each place, members in them, and what their logs say. Skips where
# there is none.

build=$(realpath "${POTLUCK_BUILD_DIR:-$root/build}")
export POTLUCK_BUILD_DIR=$build
potluck=$build/bin/potluck
needs "$build/bin/potluck" "$build/bin/potluck-netlab"
if [ "$(id -u)" -ne 0 ]; then
  skip "only root enters the namespaces of an emulated internet"
fi
data=/usr/share/common-licenses
if [ ! -e "$data/GPL-2" ]; then
  skip "'$data' has no texts to train on"
fi
export HOME=$scratch/nobody XDG_STATE_HOME= LC_ALL=C

finish() {
  {
    [ ${#children[@]} -gt 0 ] && kill -9 "${children[@]}" && wait "${children[@]}"
    [ -n "$lab" ] && kill "$lab" && wait "$lab"
  } 2> /dev/null
  [ "$failures" -eq 0 ] && rm -rf "$scratch"
}
trap finish EXIT

# until_true <seconds> <command>...: as soon as it succeeds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}

# Of the JSON log of a member: the last value of a field in events of a kind.
last() {
  grep -s "^{\"event\":\"$2\"" "$scratch/$1.jsonl" | tail -n 1 \
    | sed -n "s/.*\"$3\":\"*\([^,\"}]*\).*/\1/p"
}
step_of() { local x; x=$(last "$1" step step); echo "${x:-0}"; }
at_step() { [ "$(step_of "$1")" -ge "$2" ]; }
has() { grep -qs "^{\"event\":\"$2\"" "$scratch/$1.jsonl"; }
# together <count> <member>...: each has made its last step with so many.
together() {
  local count=$1 who
  shift
  for who; do
    [ "$(last "$who" step peers)" = "$count" ] || return 1
  done
}
# The digests after each step that a member made, from line $2 of its log on.
digests() {
  tail -n "+${2:-1}" "$scratch/$1.jsonl" | grep '^{"event":"step"' \
    | sed -n 's/.*"step":\([0-9]*\).*"digest":"\([0-9a-f]*\)".*/\1 \2/p' | sort
}
# agree <member> <member> [<line> <line>]: five steps or more in common, and no
# step with two digests.
agree() {
  join <(digests "$1" "$3") <(digests "$2" "$4") \
    | awk '{ ++n; if ($2 != $3) ++bad } END { exit !(n >= 5 && !bad) }'
}

# at <place> <command>...: in its network; on loopback in this one.
declare -A home
at() {
  nsenter --net="/proc/${home[$1]:-self}/ns/net" "${@:2}"
}
# start <name> <place> <words>...: a potluck in the background.
declare -A pid
start() {
  local name=$1 place=$2
  shift 2
  nsenter --net="/proc/${home[$place]:-self}/ns/net" "$potluck" "$@" \
    --identity-dir "$scratch/$place" --log-json "$scratch/$name.jsonl" \
    > "$scratch/$name.out" 2>&1 &
  pid[$name]=$!
  children+=($!)
}
ended() { ! kill -0 "${pid[$1]}" 2> /dev/null; }
kill_hard() {
  { kill -9 "${pid[$1]}" && wait "${pid[$1]}"; } 2> /dev/null
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }

# emulate <place>[:<router>]...: each with a line of its own, from here on in
# home[<place>] and where[<place>], its address.
declare -A where
emulate() {
  local place router network process status
  mkdir "$scratch/births"
  {
    echo '{"hosts": ['
    for place; do
      router=none
      [[ $place == *:* ]] && router=${place#*:}
      echo "{\"name\": \"${place%:*}\", \"router\": \"$router\"," \
        "\"upload\": \"100mbit\", \"download\": \"100mbit\", \"delay\": \"5ms\"},"
    done | sed '$ s/,$//'
    echo '], "commands": ['
    for place; do
      echo "{\"host\": \"${place%:*}\", \"words\": [\"bash\", \"-c\"," \
        "\"echo \$(readlink /proc/self/ns/net) {address} > $scratch/births/${place%:*};" \
        "exec sleep 3600\"]},"
    done | sed '$ s/,$//'
    echo ']}'
  } > "$scratch/lab.json"
  "$root/tools/netlab" --out "$scratch/lab" "$scratch/lab.json" 2> "$scratch/lab.txt" &
  lab=$!
  all_born() { [ "$(cat "$scratch"/births/* 2> /dev/null | wc -l)" -eq $# ]; }
  born_or_dead() { all_born "$@" || ! kill -0 $lab 2> /dev/null; }
  until_true 30 born_or_dead "$@"
  if ! all_born "$@"; then
    wait $lab
    status=$?
    lab=
    [ $status -eq 3 ] && skip "$(cat "$scratch/lab.txt")"
    expect "an emulated internet" 0 "" cat "$scratch/lab.txt" -
    conclude
  fi
  # Their processes have other numbers in here.
  for place; do
    place=${place%:*}
    read -r network "where[$place]" < "$scratch/births/$place"
    for process in /proc/[0-9]*; do
      if [ "$(readlink "$process/ns/net" 2> /dev/null)" = "$network" ]; then
        home[$place]=${process#/proc/}
        break
      fi
    done
    expect "the network of $place" 0 "" test -n "${home[$place]}"
  done
}
