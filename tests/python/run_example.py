"""Runs an example as a peer that tests look at.

    run_example.py PEERS EXAMPLE.py ARGUMENT...

Prints lines of JSON: first the addresses of its runs, `listens`; then, once
PEERS peers are in a run and training has begun, its events `step` and
`finished`, with the name of the run.
"""
import json
import pathlib
import runpy
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent
                       / "tools" / "python"))

from potluck.run import Run, _open_runs  # noqa: E402

peers = int(sys.argv[1])
met = set()
inner_add, inner_tell = Run.add, Run._tell


def add(self, *arguments):
    while not met and not all(run.get("address")
                              for run in _open_runs.values()):
        time.sleep(0.01)
    if not met:
        print(json.dumps({"event": "listens", "addresses": [
            run.get("address") for run in _open_runs.values()]}), flush=True)
    while self.name not in met:
        self._tell()
        if self.status.peers >= peers:
            met.add(self.name)
        else:
            time.sleep(0.01)
    inner_add(self, *arguments)


def tell(self, patience=0.0):
    def hear(event):
        if event["event"] in ("step", "finished", "fault"):
            print(json.dumps(dict(event, run=self.name)), flush=True)
    self._event_hook = hear
    inner_tell(self, patience)


Run.add, Run._tell = add, tell
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
