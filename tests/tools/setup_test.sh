#!/usr/bin/env bash
# tools/setup names what is missing, does nothing when nothing is, and says
# what to do where there is no Debian. Nothing is ever installed here.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

command -v dpkg-query > /dev/null || skip "this is not Debian"

packages() { # packages <line>...: the list that setup reads
  printf '%s\n' "$@" > "$scratch/packages.txt"
}
setup() {
  POTLUCK_PACKAGES=$scratch/packages.txt POTLUCK_BENCH_PACKAGES=$scratch/bench.txt \
    "$root/tools/setup" "$@"
}

packages '# a comment' '' 'dpkg  # after a name' bash
expect 'all is there' 0 'all 2 packages are installed' setup
expect 'nothing to list' 0 '' setup --list

packages dpkg no-such-package-of-potluck
expect 'one is missing' 0 '^no-such-package-of-potluck$' setup --list
expect 'what is there is not listed' 1 '' grep -q dpkg <(setup --list)
echo 'no-such-yardstick-of-potluck' > "$scratch/bench.txt"
expect 'yardsticks are not needed' 1 '' grep -q yardstick <(setup --list)
expect 'but listed when asked for' 0 '^no-such-yardstick-of-potluck$' setup --list --bench
expect 'an unknown option' 1 "'--lsit' is not an option" setup --lsit

packages dpkg no-such-library-of-potluck '' '# to test' no-such-yardstick-of-potluck
expect 'what runs' 0 '^no-such-library-of-potluck$' setup --run --list
expect 'nothing that only tests need' 1 '' grep -q yardstick <(setup --run --list)
packages dpkg no-such-package-of-potluck

# An apt-get and a sudo of our own record what they are asked for.
mkdir "$scratch/bin"
cat > "$scratch/bin/apt-get" <<END
#!/bin/sh
echo "\$@" >> "$scratch/asked"
END
printf '#!/bin/sh\nexec "$@"\n' > "$scratch/bin/sudo"
chmod +x "$scratch/bin/"*
PATH=$scratch/bin:$PATH
expect 'installs' 0 'installing 1 of 2 packages: no-such' setup
expect 'asks apt-get for the missing one alone' 0 '' \
  grep -Eqx 'install .*-recommends no-such-package-of-potluck' "$scratch/asked"
printf '#!/bin/sh\n[ "$1" = update ]\n' > "$scratch/bin/apt-get"
expect 'apt-get fails' 1 'apt-get could not install all of' setup

# No dpkg-query: not Debian.
mkdir "$scratch/elsewhere"
for tool in bash sed dirname env cat; do
  ln -s "$(command -v "$tool")" "$scratch/elsewhere/$tool"
done
PATH=$scratch/elsewhere
elsewhere=$(setup 2>&1)
status=$?
PATH=$scratch/bin:/usr/bin:/bin
expect 'not Debian' 1 '' test "$status" -eq 0
expect 'not Debian, in words' 0 'is not Debian.*no-such-package' \
  echo "$elsewhere"

conclude
