"""first.py without PyTorch: NumPy computes the gradients, for the same run."""
import argparse

import numpy as np

import potluck.numpy

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--steps", type=int, help="only to found the run")
parser.add_argument("--tiny", action="store_true", help="it is, anyway")
arguments = parser.parse_args()

chance = np.random.default_rng()
# Names, shapes and order of nn.Sequential(Linear, Tanh, Linear).
parameters = {"0": {"weight": chance.normal(0, 0.4, (32, 2)),
                    "bias": np.zeros(32)},
              "2": {"weight": chance.normal(0, 0.1, (1, 32)),
                    "bias": np.zeros(1)}}


def loss_and_gradients(net, x, y):
    """Of the mean of squared errors."""
    hidden = np.tanh(x @ net["0"]["weight"].T + net["0"]["bias"])
    error = hidden @ net["2"]["weight"].T + net["2"]["bias"] - y
    back = 2 * error / len(x)
    inner = back @ net["2"]["weight"] * (1 - hidden**2)
    return (error**2).mean(), {
        "0": {"weight": inner.T @ x, "bias": inner.sum(0)},
        "2": {"weight": back.T @ hidden, "bias": back.sum(0)}}


optimizer = potluck.numpy.Optimizer(parameters, run="first", target_batch=256,
                                    optimizer="adam", lr=0.01,
                                    steps=arguments.steps)
while not optimizer.finished:
    x = 2 * chance.normal(size=(32, 2))
    y = np.sin(x.sum(1, keepdims=True))
    loss, gradients = loss_and_gradients(optimizer.parameters, x, y)
    optimizer.step(gradients, samples=len(x), loss=loss)
print(f"step {optimizer.step_number}, digest {optimizer.digest}")
