"""The eager module of words.pt, in the run that the file has founded.

    script_peer.py ADDRESS

Trains on drawn tokens until it is told to end.
"""
import pathlib
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tools" / "python"),
             str(ROOT / "tests" / "models" / "script")]

import potluck.torch  # noqa: E402
from make_scripts import Words  # noqa: E402


def tell(event):
    if event["event"] == "step":
        print("step", event["step"], event["digest"], event["peers"],
              flush=True)


torch.manual_seed(7)  # Other first values: the run's are fetched.
model = Words()
with potluck.torch.Optimizer(model, run="scripted", peers=[sys.argv[1]],
                             listen="127.0.0.1:0", on_event=tell,
                             progress=False) as optimizer:
    while not optimizer.finished:
        tokens = torch.randint(5, 20, (16, 16))
        loss = model(tokens, tokens)["loss"]
        loss.backward()
        optimizer.step(loss=loss, samples=16)
        optimizer.zero_grad()
