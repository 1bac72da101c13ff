"""Runs an example as a peer that tests look at.

    run_example.py PEERS FOLDER EXAMPLE.py ARGUMENT...

Prints lines of JSON: first the addresses of its runs, `listens`; then their
events `step` and `finished`, with the name of the run. The PEERS processes that
share FOLDER train in step: none adds a batch before all are in the run, nor is
it more than one batch ahead of another, so that a busy machine cannot make one
of them train alone.
"""
import json
import os
import pathlib
import runpy
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent
                       / "tools" / "python"))

from potluck.run import Run, _open_runs  # noqa: E402

ENDED = 10**9

peers, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
added = {}  # Batches, for each run.
inner_add, inner_tell = Run.add, Run._tell


def note(run, count):
    """Tells the other processes how many batches were added here."""
    added[run] = count
    name = f"{run}.{os.getpid()}"
    (folder / f"new-{name}").write_text(str(count))
    (folder / f"new-{name}").rename(folder / name)


def all_are_with_us(run):
    counts = [int(path.read_text()) for path in folder.glob(f"{run}.[0-9]*")]
    return len(counts) == peers and min(counts) >= added[run] - 1


def await_others(run):
    if not added:
        while not all(each.get("address") for each in _open_runs.values()):
            time.sleep(0.01)
        print(json.dumps({"event": "listens", "addresses": [
            each.get("address") for each in _open_runs.values()]}), flush=True)
    while run.name not in added:
        run._tell()
        if run.status.peers >= peers:
            note(run.name, 0)
        else:
            time.sleep(0.01)
    while not all_are_with_us(run.name):
        run._tell()
        time.sleep(0.001)


def add(self, *arguments):
    await_others(self)
    inner_add(self, *arguments)
    note(self.name, added[self.name] + 1)


def tell(self, patience=0.0):
    def hear(event):
        if event["event"] in ("step", "finished", "fault"):
            print(json.dumps(dict(event, run=self.name)), flush=True)
        if event["event"] == "finished":
            note(self.name, ENDED)
    self._event_hook = hear
    inner_tell(self, patience)


Run.add, Run._tell = add, tell
sys.argv = sys.argv[3:]
runpy.run_path(sys.argv[0], run_name="__main__")
