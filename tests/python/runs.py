"""Two peers train each example, and hold equal digests after every step.

    runs.py [EXAMPLE]...     those of tools/python/examples; all without

Not a `_test.py`: tests/tools/python_runs_test.sh runs it where the library and
the program are built.
"""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "tools" / "python" / "examples"
BUILD = pathlib.Path(os.environ.get("POTLUCK_BUILD_DIR", ROOT / "build"))
STEPS = 6
PATIENCE = 120  # Seconds.

# Examples that call experts of two hosts: the hosts' options, the experts of
# each, the steps of the run, and the one at which the second host is killed.
HOSTS = {"mixture": (["--run=mixture", "--grid=1x2x2", "--hidden=8"],
                     ["quarters.*.0.*", "quarters.*.1.*"], 60, 10)}


class Scene:
    """Peers of which the first knows nobody."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.counts = self.folder / "counts"
        self.counts.mkdir()
        self.processes = {}

    def _start(self, name, words, known=()):
        state = self.folder / name
        state.mkdir()
        environment = dict(
            os.environ, XDG_STATE_HOME=str(state), HOME=str(state),
            POTLUCK_PEERS=",".join(known), POTLUCK_LISTEN="127.0.0.1:0",
            OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
        environment.setdefault("POTLUCK_LIBRARY", str(BUILD / "lib"))
        with open(state / "out", "wb") as out:
            process = subprocess.Popen(words, stdout=out, stderr=out,
                                       stdin=subprocess.DEVNULL,
                                       env=environment)
        self.processes[name] = process
        return process

    def heard(self, name, wanted):
        """The first event for which `wanted(event)`; none when the process has
        ended before, or takes too long."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ended = self.processes[name].poll() is not None
            for event in events_in(self.said(name)):
                if wanted(event):
                    return event
            if ended:
                break
            time.sleep(0.05)
        return None

    def addresses(self, name):
        """Of a peer's runs, once they are open; none when it has ended."""
        event = self.heard(name, lambda each: each["event"] == "listens")
        return event["addresses"] if event else []

    def peer(self, name, peers, example, known, steps=STEPS):
        return self._start(name, [
            sys.executable, str(ROOT / "tests" / "python" / "run_example.py"),
            str(peers), str(self.counts), str(EXAMPLES / f"{example}.py"),
            "--tiny", "--steps", str(steps)], known)

    def program(self, name, command, *words):
        """`potluck COMMAND`, whose events are lines that it says."""
        return self._start(name, [
            str(BUILD / "bin" / "potluck"), command, "--listen=127.0.0.1:0",
            "--config-file=/dev/null", "--log-json=/dev/stdout", *words])

    def hosts(self, options, patterns):
        """A bootstrap and a host of each pattern's experts, once they can be
        called. Gives the bootstrap's address."""
        self.program("seed", "bootstrap")
        seed = self.heard("seed", lambda each: each["event"] == "listening")
        for number, pattern in enumerate(patterns):
            self.program(f"host-{number}", "expert", f"--uids={pattern}",
                         f"--peer={seed['address']}", "--threads=1", *options)
        for number in range(len(patterns)):
            if not self.heard(f"host-{number}", lambda each:
                              each["event"] == "experts" and each["ready"]):
                raise RuntimeError(self.said(f"host-{number}"))
        return seed["address"]

    def said(self, name):
        return (self.folder / name / "out").read_text(errors="replace")

    def end(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()


def events_in(text):
    """The whole lines of JSON."""
    for line in text.splitlines(keepends=True):
        if line.startswith("{") and line.endswith("\n"):
            yield json.loads(line)


def steps_in(text):
    """{(run, step): digest} and {run: peers of its steps}."""
    digests, peers = {}, {}
    for event in events_in(text):
        if event["event"] == "step":
            digests[event["run"], event["step"]] = event["digest"]
            peers.setdefault(event["run"], []).append(event["peers"])
    return digests, peers


def missing(example):
    """A package that it imports and that is not installed; or none."""
    text = (EXAMPLES / f"{example}.py").read_text()
    needed = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    return next((each for each in needed if each != "potluck"
                 and importlib.util.find_spec(each) is None), None)


def problem_with(examples):
    """Trains one run with a peer of each example; a sentence if it failed."""
    options, patterns, steps, death = HOSTS.get(examples[0],
                                                ([], [], STEPS, 0))
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder)
        names = [f"peer-{i}" for i in range(len(examples))]
        try:
            known = [scene.hosts(options, patterns)] if patterns else []
            peers = []
            for name, example in zip(names, examples):
                peers.append(scene.peer(name, len(examples), example, known,
                                        steps))
                found = scene.addresses(name)
                known = known or found
            if death:
                scene.heard(names[0], lambda each: each.get("step") == death)
                scene.processes["host-1"].kill()
            for name, peer in zip(names, peers):
                try:
                    status = peer.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    status = "not to be had in time"
                if status != 0:
                    return "\n".join(
                        [f"{name}'s exit status is {status}:"]
                        + [f"--- {each}\n{scene.said(each)}"
                           for each in names])
            heard = [steps_in(scene.said(name)) for name in names]
        finally:
            scene.end()
    first, peers = heard[0]
    if not first:
        return "There was no step."
    for run, counts in peers.items():
        if max(counts) < len(examples):
            return f"No step of {run} was made by all together."
    for digests, _ in heard[1:]:
        common = first.keys() & digests.keys()
        for run in peers:
            if not any(key[0] == run for key in common):
                return f"No step of {run} was seen by both."
            if (run, steps) not in common:
                return f"One peer did not see the last step of {run}."
        for key in sorted(common):
            if first[key] != digests[key]:
                return f"The digests of {key} are {first[key]} and {digests[key]}."
    return ""


def main():
    asked = sys.argv[1:] or sorted(path.stem for path in EXAMPLES.glob("*.py"))
    failed = 0
    for example in asked:
        absent = missing(example)
        if absent:
            print(f"{example}: skipped, {absent} is not installed", flush=True)
            continue
        both = ["first", "first_numpy"] if example == "first_numpy" else (
            [example] * 2)
        problem = problem_with(both)
        print(f"{example}: {problem or 'OK'}", flush=True)
        failed += bool(problem)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
