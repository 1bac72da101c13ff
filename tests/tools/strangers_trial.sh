#!/usr/bin/env bash
# A run of strangers from its beginning to its roll-back: created in one home,
# joined by invitation in another with an empty home directory, closed to who
# has no token, a ban, no authority and no bootstrap any more, twenty steps
# back. On loopback how long joining takes; then on an emulated internet. By
# hand: its times need a machine with nothing else to do.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

. "$(dirname "${BASH_SOURCE[0]}")/trial.sh"

# Parameters and the optimizer's of this network are 10 MB.
model=(--hidden-size 256 --embedding-size 128 --intermediate-size 768 --layers 2
  --heads 4 --sequence-length 16 --vocabulary 1000 --target-batch 16
  --steps 1000000)
join=(--data "$data" --micro-batch 4 --threads 1 --no-port-mapping)

# received <place>: bytes that have come to it over its line.
received() {
  at "$1" cat /proc/net/dev \
    | awk -F'[: ]+' '!/lo:|\|/ { sum += $3 } END { print sum + 0 }'
}

# closed_run <run> <organiser's place> <authority's place> <its address>
#   <bootstrap's place> <its address>: makes it, with both running.
closed_run() {
  local id seed
  id=$("$potluck" delegate --identity-dir "$scratch/$3" | grep -oE '[0-9a-f]{64}' | head -n 1)
  seed=$("$potluck" delegate --identity-dir "$scratch/$5" | grep -oE '[0-9a-f]{64}' | head -n 1)
  at "$2" "$potluck" create "$1" --identity-dir "$scratch/$2" --data "$data" \
    --admission token --authority "$id@$4" --peer "$seed@$6" "${model[@]}" \
    > "$scratch/created" || return
  bare=$(tail -n 1 "$scratch/created")
  start "$5" "$5" bootstrap --listen "0.0.0.0:${6##*:}" --announce "$6"
  start "$3" "$3" authority --run "$bare" --listen "0.0.0.0:${4##*:}" --announce "$4"
  until_true 20 has "$3" listening && until_true 20 has "$5" listening || return
  invitation=$("$potluck" authority invite --run "$bare" --uses 5 \
    --identity-dir "$scratch/$3" | tail -n 1)
  [ "${invitation#potluck:}" != "$invitation" ]
}

# ---- on loopback: how long it takes

closed_run quick one gate 127.0.0.1:17301 seed 127.0.0.1:17302
expect "a run with an authority" 0 "" test $? -eq 0
start first one join "$invitation" "${join[@]}" --listen 127.0.0.1:0
expect "the first member trains" 0 "" until_true 60 at_step first 5
began=$(milliseconds)
start second two join "$invitation" "${join[@]}" --listen 127.0.0.1:0
expect "a second one, too" 0 "" until_true 60 together 2 first second
took=$(($(milliseconds) - began))
size=$(last second state_download bytes)
echo "from the start of 'potluck join' to the first step together: $took ms;" \
  "the state: ${size:-?} bytes"
expect "within 5 s" 0 "" test "$took" -le 5000
expect "with equal digests" 0 "" until_true 30 agree first second
for name in first second gate seed; do
  kill_hard "$name"
done

# ---- on an emulated internet

# Steps that a home's line has time for.
model=(--hidden-size 64 --embedding-size 32 --intermediate-size 256 --layers 1
  --heads 2 --sequence-length 16 --vocabulary 1000 --target-batch 128
  --steps 1000000 --keep-every 10 --keep-states 20)
places=(server seeds home-1 home-2 home-3 home-4 home-5 outside)
emulate "${places[@]}"
expect "one home does not see another's loopback" 1 "" \
  diff <(at home-1 readlink /proc/self/ns/net) <(at home-2 readlink /proc/self/ns/net)

closed_run poems home-1 server "${where[server]}:7000" seeds "${where[seeds]}:7000"
expect "a run, created in one home" 0 "" test $? -eq 0
for number in 1 2 3 4 5; do
  start "home-$number" "home-$number" join "$invitation" "${join[@]}" \
    --listen "0.0.0.0:7000"
  [ "$number" -eq 1 ] && until_true 60 at_step home-1 3
done
members=(home-1 home-2 home-3 home-4 home-5)
expect "five homes train" 0 "" until_true 120 together 5 "${members[@]}"
expect "with equal digests" 0 "" until_true 60 agree home-1 home-2

# A third without a token.
before=$(received outside)
start outside outside join "$bare" "${join[@]}" --listen "0.0.0.0:7000"
expect "whoever has no token is told so" 0 "" until_true 60 ended outside
ended outside || kill_hard outside
wait "${pid[outside]}"
expect "as a user's mistake" 0 "" test $? -eq 2
expect "in a sentence" 0 "does not admit this peer" cat "$scratch/outside.out"
expect "without a step" 1 "" has outside step
expect "without a state" 1 "" has outside state_download
expect "and nothing of it is kept" 0 "^0$" \
  eval 'find "$scratch/outside" -name "*.checkpoint*" | wc -l'
got=$(($(received outside) - before))
# The manifest is for everybody: each of the seven that it meets may send it.
public=$(stat -c %s "$scratch/home-1/poems.manifest")
echo "bytes that came to it: $got; the manifest has $public"
expect "nor was more sent than the manifest" 0 "" \
  test "$got" -lt $((7 * public + 200000)) -a "$got" -gt 1000

# A ban.
banned=$(last home-5 listening id)
amend() {
  at home-1 "$potluck" amend "$bare" "$@" --identity-dir "$scratch/home-1" \
    --peer "$(last home-2 listening id)@${where[home-2]}:7000" \
    --peer "$(last home-3 listening id)@${where[home-3]}:7000"
}
began=$(milliseconds)
amend ban "$banned" > "$scratch/ban.out" 2>&1 &
until_true 30 ended home-5
took=$(($(milliseconds) - began))
wait $!
expect "a ban" 0 "hold it" cat "$scratch/ban.out"
echo "from 'potluck amend ban' to the end of the banned peer: $took ms"
expect "within 5 s" 0 "" test "$took" -le 5000
expect "for the reason" 0 "has banned this peer" cat "$scratch/home-5.out"
members=(home-1 home-2 home-3 home-4)
expect "the others go on" 0 "" until_true 60 together 4 "${members[@]}"

# Nobody in charge any more.
kill_hard server
kill_hard seeds
far=$(($(step_of home-1) + 15))
expect "members train on without authority and bootstrap" 0 "" \
  until_true 300 at_step home-1 $far
kill_hard home-4
mv "$scratch/home-4.jsonl" "$scratch/home-4.before"
start home-4 home-4 join "$invitation" "${join[@]}" --listen "0.0.0.0:7000"
expect "one that was there comes back" 0 "" until_true 60 together 4 "${members[@]}"
start outside outside join "$invitation" "${join[@]}" --listen "0.0.0.0:7000"

# Twenty steps back.
expect "it has steps behind it" 0 "" until_true 300 at_step home-4 $((far + 30))
expect "a pause" 0 "hold it" amend pause
paused() {
  local x
  x=$(step_of home-1)
  sleep 1
  for who in "${members[@]}"; do
    [ "$(step_of "$who")" -eq "$x" ] || return 1
  done
}
expect "all stand" 0 "" until_true 60 paused
to=$((($(step_of home-1) - 20) / 10 * 10))
then=$(digests home-1 | awk -v step=$to '$1 == step { print $2 }')
declare -A line
for who in "${members[@]}"; do
  line[$who]=$(($(wc -l < "$scratch/$who.jsonl") + 1))
done
expect "back to step $to" 0 "hold it" amend rollback $to --digest "$then"
holds() {
  tail -n "+${line[$1]}" "$scratch/$1.jsonl" \
    | grep -E '^\{"event":"(rolled_back|state_download)"' | grep -q "\"$then\""
}
for who in "${members[@]}"; do
  expect "$who holds the digest of then" 0 "" until_true 60 holds "$who"
done
expect "they go on" 0 "hold it" amend resume
for who in home-2 home-3 home-4; do
  expect "$who with the same digests" 0 "" \
    until_true 60 agree home-1 "$who" "${line[home-1]}" "${line[$who]}"
done
first=$(digests home-1 "${line[home-1]}" | sort -n | head -n 1 | cut -d' ' -f1)
expect "from there" 0 "" test "${first:-0}" -eq $((to + 1))
expect "whoever has only an invitation did not come in meanwhile" 1 "" \
  grep -Eq '^\{"event":"(step|state_download)"' "$scratch/outside.jsonl"
conclude
