"""Runs an example as a peer that tests look at.

    run_example.py PEERS EXAMPLE.py ARGUMENT...

It computes nothing before PEERS peers are in the run, and prints each event
`step` and `finished` as a line of JSON with the name of its run.
"""
import json
import pathlib
import runpy
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent
                       / "tools" / "python"))

from potluck.run import Run  # noqa: E402

peers = int(sys.argv[1])
met = set()
inner_add, inner_tell = Run.add, Run._tell


def add(self, *arguments):
    while self.name not in met:
        self._tell()
        if self.status.peers >= peers:
            met.add(self.name)
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
