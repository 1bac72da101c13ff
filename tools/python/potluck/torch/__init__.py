"""An optimizer for PyTorch that takes its steps together with others.

    optimizer = potluck.torch.Optimizer(model, run="poems", peers=["seed:7000"],
                                        target_batch=4096, optimizer="adamw",
                                        lr=3e-4)
    for batch in data:
        loss = model(batch)
        loss.backward()
        optimizer.step(loss=loss, samples=len(batch))
        optimizer.zero_grad()
"""
from potluck.torch.experts import MixtureOfExperts, call_experts
from potluck.torch.optimizer import Optimizer
from potluck.torch.sampler import Sampler
from potluck.torch.schedule import Schedule

__all__ = ["MixtureOfExperts", "Optimizer", "Sampler", "Schedule",
           "call_experts"]
