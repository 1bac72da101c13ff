#!/usr/bin/env bash
# What libpotluck may say names settings as potluck.h does (`listen`), and no
# flags (`--listen`), which programs in Python or C do not have. Commands for
# other machines, in backticks, are commands.
. "$(dirname "${BASH_SOURCE[0]}")/assert.sh"

# flags_in <folder>...: each sentence with a flag, behind its file.
flags_in() {
  python3 - "$@" << 'END'
import pathlib
import re
import sys

COMMENT = r"//[^\n]*|/\*.*?\*/"
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
TOKEN = re.compile(f"({COMMENT})|((?:{LITERAL}\\s*)+)", re.DOTALL)
FLAG = re.compile(r"(?<![\w-])--[a-z]")

found = False
for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(folder).rglob("*.[ch]pp")):
        if "sandbox" in path.parts:
            continue  # How a program of ours is started.
        for _, literals in TOKEN.findall(path.read_text()):
            sentence = "".join(each[1:-1] for each
                               in re.findall(LITERAL, literals))
            if FLAG.search(re.sub(r"`[^`]*`", "", sentence)):
                print(f"{path}: {sentence}")
                found = True
sys.exit(found)
END
}

mkdir -p "$scratch/a"
cat > "$scratch/a/a.cpp" << 'END'
// with --comment
auto x = "listen at another port"
         " (`potluck join --listen HOST:PORT` there)";
END
expect 'a command, and a comment' 0 '' flags_in "$scratch/a"
echo 'auto y = "choose another port with " /* : */ "--lis" "ten";' \
  >> "$scratch/a/a.cpp"
expect 'a flag in pieces' 1 'a.cpp: --listen' flags_in "$scratch/a"

cd "$root" || exit 1
expect 'what the library says' 0 '' \
  flags_in messages runtime actors tools/library

conclude
