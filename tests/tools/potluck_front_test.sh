#!/usr/bin/env bash
# What needs no model runs without LibTorch; for the rest `potluck` becomes
# `potluck-full`, and says so where that is missing.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

build=$(realpath "${POTLUCK_BUILD_DIR:-$root/build}")
potluck=$build/bin/potluck
needs "$potluck"

# without <regex> <command>...: its output has no such line.
without() {
  ! "${@:2}" 2>&1 | grep -E "$1"
}
expect "potluck is light" 0 '' without 'torch' ldd "$potluck"
expect "potluck-full is not" 0 'torch' ldd "$build/bin/potluck-full"

# The light one alone.
cp "$potluck" "$scratch/"
alone=$scratch/potluck
absent='Cannot start .*/potluck-full: No such file'
expect "light: bootstrap" 0 'usage: potluck bootstrap' "$alone" bootstrap --help
expect "light: dht" 0 'usage: potluck dht' "$alone" dht --help
expect "light: sim" 0 'usage: potluck sim' "$alone" sim --help
expect "light: plan" 0 'usage: potluck plan' "$alone" plan --help
expect "light: checkpoint" 0 'usage: potluck checkpoint' "$alone" checkpoint --help
expect "light: averaging" 0 'usage: potluck bench' "$alone" bench averaging --help
expect "light: an auxiliary peer" 2 'name a peer of the run' \
  "$alone" join --role=auxiliary --listen=127.0.0.1:0
expect "full: a trainer" 1 "$absent" "$alone" join
expect "full: a trainer of a run of that name" 1 "$absent" \
  "$alone" join --run auxiliary --data=/dev/null
expect "full: help" 1 "$absent" "$alone" help
expect "full: nothing" 1 "$absent" "$alone"
expect "full: another subcommand" 1 "$absent" "$alone" chaos --help
expect "full: another bench" 1 "$absent" "$alone" bench optimizer

# Both together.
for name in demo create amend bootstrap authority delegate join doctor dht expert \
  checkpoint import export eval sim chaos plan bench; do
  expect "$name in the list" 0 "^  $name " "$potluck" help
  expect "$name's help" 0 "usage: potluck $name" "$potluck" "$name" --help
  expect "$name's help, the other way" 0 "usage: potluck $name" \
    "$potluck" help "$name"
done
expect "its version" 0 '^potluck [0-9.]+, protocol version [0-9]+$' \
  "$potluck" --version
for program in "$potluck" "$build/bin/potluck-full"; do
  expect "its licence" 0 '^Licence GPL-3.0-or-later: ' "$program" --version
done
expect "no subcommand" 2 'Usage: potluck SUBCOMMAND' "$potluck"
expect "a misspelt one" 2 "did you mean 'join'" "$potluck" jion
# A section of another subcommand is skipped, whichever executable has it.
printf '[chaos]\nx=1\n[join]\nrole="auxiliary"\n' > "$scratch/file.ini"
expect "others' sections, light" 0 '' \
  "$potluck" plan --config-file="$scratch/file.ini" --help
expect "a role from a file" 2 'name a peer of the run' \
  "$potluck" join --config-file="$scratch/file.ini" --listen=127.0.0.1:0

expect "an authority's program that is not there" 2 \
  'ask: The program /none cannot be started .*; name the path' \
  "$potluck" authority --run poems --ask /none --identity-dir "$scratch/gate"

# An OpenBLAS that does not know this processor, until it is told kernels.
cat > "$scratch/old.c" << 'END'
#include <stdio.h>
const char* openblas_get_corename(void) {
  fputs("asked\n", stderr);
  return "Prescott";
}
END
cc -shared -fPIC "$scratch/old.c" -o "$scratch/old.so"
starts() { # starts <times asked> <environment>...: and says its version once
  env "${@:2}" LD_PRELOAD="$scratch/old.so" "$build/bin/potluck-full" --version \
    > "$scratch/said" 2> "$scratch/asked"
  [ "$(grep -c asked "$scratch/asked")" -eq "$1" ] && [ "$(grep -c '^potluck ' "$scratch/said")" -eq 1 ]
}
expect "kernels are chosen once, and the program started anew" 0 '' starts 1 -u OPENBLAS_CORETYPE
expect "kernels that the user chose stay" 0 '' starts 0 OPENBLAS_CORETYPE=Prescott

conclude
