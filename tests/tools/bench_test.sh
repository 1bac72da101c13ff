#!/usr/bin/env bash
# `potluck bench averaging` as a program: its figures' shape, and mistakes. How
# fast it is cannot be tested where other tests run.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=${POTLUCK_BUILD_DIR:-$root/build}
potluck=$build/bin/potluck
needs "$potluck"
cd "$scratch" || exit 1

bench() {
  "$potluck" bench "$@"
}

reference=none
[ ! -x "$build/bin/potluck-gloo-reference" ] || reference=gloo
expect "three processes average, and hold the same mean" 0 '"digests_equal": true' \
  bench averaging --peers 3 --megabytes 0.7 --rounds 3 --json \
  --reference $reference
for packing in float16 bfloat16 int8; do
  expect "they do with $packing" 0 '"digests_equal": true' \
    bench averaging --peers 3 --megabytes 0.7 --rounds 3 --json \
    --packing $packing
done
expect "packings have names" 2 'packing must be' \
  bench averaging --packing float8
expect "the figures are a table for people" 0 'seconds_median +[0-9]' \
  bench averaging --peers 2 --megabytes 0.01 --rounds 2
if [ $reference = gloo ]; then
  expect "the cost is measured as it grows, and drawn" 0 'alone' \
    "$root/tools/lab/bench/growth" --peers 2,3 --megabytes 0.7 --quick --svg grown.svg
  expect "the picture has a line for each number of peers" 0 '3 peers' \
    cat grown.svg
  expect "sizes are numbers" 2 'no list of numbers' \
    "$root/tools/lab/bench/growth" --megabytes 0,1
fi
expect "the optimizer is measured next to memory and to Adam" 0 \
  '"memory_share": [0-9.]+' bench optimizer --megabytes 4 --rounds 2 --json
expect "one rule alone is measured" 0 '"optimizer": "lion"' \
  bench optimizer --optimizer lion --megabytes 4 --rounds 2 --json
expect "rules have names" 2 'optimizer must be one of lamb, ' \
  bench optimizer --optimizer sdg
expect "it needs parameters" 2 'megabytes must be' \
  bench optimizer --megabytes 0
expect "threads are counted" 2 'threads must be' bench optimizer --threads -1
for how in "" --delayed; do
  expect "whole steps end with equal parameters ${how:-without delay}" 0 \
    '"digests_equal": true' bench step --peers 3 --megabytes 0.4 --rounds 3 \
    --target-batch 96 --batch 8 --batch-seconds 0.1 --json $how
done
expect "a step is held against computing alone" 0 'ideal_seconds +0.4' \
  bench step --peers 2 --megabytes 0.01 --rounds 2 --target-batch 64 \
  --batch 8 --batch-seconds 0.1
expect "a trainer is held against a bare loop" 0 '"bare_samples_per_second"' \
  sh -c '"$1" bench trainer --row gpt --device cpu --samples 32 --rounds 1 \
    --json | grep bare_' - "$potluck"
expect "loading a checkpoint is held against reading it" 0 '"load_ratio"' \
  sh -c '"$1" bench checkpoint --megabytes 2 --rounds 1 --json | grep load_' \
    - "$potluck"
expect "workloads have names" 2 'row must be all, albert, gpt' \
  bench trainer --device cpu --row lstm
expect "devices have names" 2 'choose auto, cpu, cuda' \
  bench trainer --device abacus
expect "precisions have names" 2 'choose float32, bf16 or fp16' \
  bench trainer --device cpu --precision int4
expect "computing takes time" 2 'batch-seconds must be' \
  bench step --batch-seconds 0
expect "what is measured has to be said" 2 'potluck bench averaging' bench
expect "nothing else is measured" 2 'potluck bench averaging' bench loss
expect "one peer cannot average" 2 'peers must be a number from 2' \
  bench averaging --peers 1
expect "nor can thousands on one machine" 2 'peers must be a number' \
  bench averaging --peers 5000
expect "a gradient has values" 2 'megabytes must be a number' \
  bench averaging --megabytes 0
expect "and is a number" 2 'megabytes' bench averaging --megabytes nan
expect "rounds are counted" 2 'rounds must be a number' \
  bench averaging --rounds -1
expect "chunks have values" 2 'chunk-values must be' \
  bench averaging --chunk-values 0
expect "references have names" 2 'reference must be none, gloo or mpi' \
  bench averaging --reference nccl
expect "grids have sizes" 2 'grids: ' bench beam --grids 4by4
expect "homes are measured in parts" 2 'there is no part lines' \
  "$root/tools/bench/homes" --only lines
expect "nobody is a member that is not there" 2 'member' \
  bench averaging --peers 2 --member 2
conclude
