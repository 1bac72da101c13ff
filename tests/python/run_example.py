"""Runs an example as a peer that tests look at.

    run_example.py PEERS FOLDER EXAMPLE.py ARGUMENT...

Prints lines of JSON: first the addresses of its runs, `listens`; then their
events `step` and `finished`, with the name of the run. None of the PEERS
processes that share FOLDER adds a batch before all are in the run, for examples
make few steps; from there on each trains as fast as it can.
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

peers, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
there = set()  # Runs in which this process is, and knows of the others.
inner_add, inner_tell = Run.add, Run._tell


def await_others(run):
    if not there:
        while not all(each.get("address") for each in _open_runs.values()):
            time.sleep(0.01)
        print(json.dumps({"event": "listens", "addresses": [
            each.get("address") for each in _open_runs.values()]}), flush=True)
    if run.name in there:
        return
    there.add(run.name)
    while run.status.peers < peers:
        run._tell()
        time.sleep(0.01)
    (folder / f"{run.name}.{os.getpid()}").touch()
    while len(list(folder.glob(f"{run.name}.[0-9]*"))) < peers:
        run._tell()
        time.sleep(0.01)


def add(self, *arguments):
    await_others(self)
    inner_add(self, *arguments)


def tell(self, patience=0.0):
    def hear(event):
        if event["event"] in ("step", "finished", "fault"):
            print(json.dumps(dict(event, run=self.name)), flush=True)
    self._event_hook = hear
    inner_tell(self, patience)


Run.add, Run._tell = add, tell
sys.argv = sys.argv[3:]
runpy.run_path(sys.argv[0], run_name="__main__")
