"""`python3 -m potluck` is the program potluck: see `python3 -m potluck --help`."""
import os
import pathlib
import shutil
import sys


def binary() -> str:
    """Where the program lies: where POTLUCK_BINARY says; in the package; in
    the build folder of the tree that the package is in; on the PATH."""
    named = os.environ.get("POTLUCK_BINARY")
    if named:
        return named
    package = pathlib.Path(__file__).resolve().parent
    places = [package / "bin" / "potluck",
              package.parent.parent / "bin" / "potluck",
              package.parent.parent.parent / "build" / "bin" / "potluck"]
    for place in places:
        if os.access(place, os.X_OK) and place.is_file():
            return str(place)
    found = shutil.which("potluck")
    if found is None:
        sys.exit("potluck: the program is neither in this package nor on the "
                 "PATH; name it in POTLUCK_BINARY.")
    return found


if __name__ == "__main__":
    program = binary()
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"potluck: {program} cannot be started ({problem.strerror}); "
                 "name the program in POTLUCK_BINARY.")
