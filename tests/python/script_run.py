"""One peer founds a run with a file of TorchScript, two get it from the run, and
a Python peer trains the eager module: all hold equal digests.

    script_run.py

Not a `_test.py`: tests/tools/script_run_test.sh runs it where everything that
it needs is there.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("POTLUCK_BUILD_DIR", ROOT / "build"))
TOGETHER = 4  # Steps of all four that are compared at least.
PATIENCE = 240  # Seconds.


class Peer:
    def __init__(self, folder, name, words):
        self.log = folder / f"{name}.log"
        environment = dict(os.environ, OMP_NUM_THREADS="1",
                           XDG_STATE_HOME=str(folder / name),
                           HOME=str(folder / name),
                           POTLUCK_LIBRARY=str(BUILD / "lib"),
                           PYTHONDONTWRITEBYTECODE="1")
        self.said = folder / f"{name}.out"
        with open(self.said, "wb") as out:
            self.process = subprocess.Popen(
                [str(x) for x in words], stdout=out, stderr=out,
                stdin=subprocess.DEVNULL, env=environment)

    def steps(self):
        """{step: (digest, peers)}"""
        return {}


class ScriptPeer(Peer):
    def __init__(self, folder, name, words):
        super().__init__(folder, name, [
            BUILD / "bin" / "potluck", "join", "--run=scripted",
            "--listen=127.0.0.1:0", "--no-port-mapping", "--threads=1",
            f"--data={folder}/text", f"--identity-dir={folder}/{name}",
            f"--log-json={folder}/{name}.log", *words])

    def events(self):
        if not self.log.exists():
            return
        for line in self.log.read_text(errors="replace").splitlines(True):
            if line.endswith("\n"):
                yield json.loads(line)

    def address(self):
        for event in self.events():
            if event["event"] == "listening":
                return event["address"]
        return None

    def steps(self):
        return {x["step"]: (x["digest"], x["peers"]) for x in self.events()
                if x["event"] == "step"}


class EagerPeer(Peer):
    def __init__(self, folder, address):
        super().__init__(folder, "eager", [
            sys.executable, ROOT / "tests" / "python" / "script_peer.py",
            address])

    def steps(self):
        found = {}
        for line in self.said.read_text(errors="replace").splitlines(True):
            words = line.split()
            if len(words) == 4 and words[0] == "step" and line.endswith("\n"):
                found[int(words[1])] = (words[2], int(words[3]))
        return found


def awaited(what, peers, look):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = look()
        if result:
            return result
        for peer in peers:
            if peer.process.poll() is not None:
                sys.exit(f"A peer has ended:\n{peer.said.read_text()}")
        time.sleep(0.1)
    sys.exit("\n".join([f"There was no {what} in time."]
                       + [f"--- {x.said}\n{x.said.read_text()[-3000:]}"
                          for x in peers]))


def common_steps(peers):
    """Those that all took part in, by their numbers; False: too few yet."""
    all_steps = [peer.steps() for peer in peers]
    common = set.intersection(*[set(x) for x in all_steps])
    together = sorted(x for x in common
                      if all(steps[x][1] >= len(peers) for steps in all_steps))
    if len(together) < TOGETHER:
        return False
    return {x: {steps[x][0] for steps in all_steps} for x in sorted(common)}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        made = folder / "made"
        made.mkdir()
        subprocess.run([sys.executable, ROOT / "tests" / "models" / "script"
                        / "make_scripts.py", made], check=True)
        (folder / "text").write_text("a small text of some words again\n" * 400)
        peers = []
        try:
            peers.append(ScriptPeer(folder, "founder", [
                f"--model={made}/words.pt", "--vocabulary=40",
                "--sequence-length=16", "--target-batch=512", "--steps=100000",
                "--optimizer=adamw", "--learning-rate=0.01"]))
            address = awaited("address", peers, peers[0].address)
            for each in ("two", "three"):
                peers.append(ScriptPeer(folder, each, [f"--peer={address}"]))
            peers.append(EagerPeer(folder, address))
            digests = awaited("step of all", peers,
                              lambda: common_steps(peers))
        finally:
            for peer in peers:
                if peer.process.poll() is None:
                    peer.process.terminate()
            for peer in peers:
                try:
                    peer.process.wait(20)
                except subprocess.TimeoutExpired:
                    peer.process.kill()
        different = [x for x, found in digests.items() if len(found) != 1]
        if different:
            sys.exit(f"Digests differ after the steps {different}.")
        print(f"{len(digests)} steps of {len(peers)} peers: OK")


if __name__ == "__main__":
    main()
