#!/usr/bin/env bash
# tools/build --only says how far it is, as soon as it is.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"
end_children_at_exit

# A cmake of our own, which compiles as told through a pipe.
mkdir "$scratch/bin"
mkfifo "$scratch/compiler"
cat > "$scratch/bin/cmake" <<END
#!/bin/sh
case \$1 in
  --build) cat "$scratch/compiler" ;;
  *) echo configured ;;
esac
END
printf '#!/bin/sh\n' | tee "$scratch/bin/ninja" > "$scratch/bin/c++"
chmod +x "$scratch/bin/"*
export PATH=$scratch/bin:$PATH POTLUCK_BUILD_DIR=$scratch/build

"$root/tools/build" --only potluck > "$scratch/said" 2>&1 &
children+=($!)
exec 3> "$scratch/compiler"
echo "[1/20] Building CXX object a" >&3
expect 'the first percentage, while it builds' 0 '' \
  awaited 30 grep -qx 'building: 5%' "$scratch/said"
printf '%s\n' '[2/20] Building b' '[3/20] Building c' 'c.cpp:1:1: an error' >&3
exec 3>&-
wait "${children[0]}"
expect 'tenths, and errors' 0 '' cmp "$scratch/said" <(
  printf '%s\n' 'building: 5%' 'building: 10%' 'c.cpp:1:1: an error')
expect 'nothing to build for' 1 'needs a target' "$root/tools/build" --only

conclude
