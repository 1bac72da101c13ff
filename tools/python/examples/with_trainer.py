"""A GPT of Hugging Face's Transformers, trained by their Trainer (packages
transformers and accelerate): it is given Potluck's optimizer and schedule, and
ends with the run.
"""
import argparse
import tempfile

import torch
from transformers import (GPT2Config, GPT2LMHeadModel, Trainer,
                          TrainerCallback, TrainingArguments)

import potluck.torch


class EndWithTheRun(TrainerCallback):
    def __init__(self, optimizer: potluck.torch.Optimizer) -> None:
        self.optimizer = optimizer

    def on_step_end(self, args, state, control, **_):
        control.should_training_stop = self.optimizer.finished
        return control


def counting(samples: int, length: int, words: int) -> "list[dict]":
    """Texts in which each word is the one before plus the first."""
    first = torch.randint(1, words, (samples, 1))
    texts = first * torch.arange(1, length + 1) % words
    return [{"input_ids": text, "labels": text} for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--tiny", action="store_true", help="for a quick look")
    arguments = parser.parse_args()
    words, length, hidden = (11, 8, 16) if arguments.tiny else (97, 64, 128)
    batch = 16
    seed = torch.seed() % 2**31  # Every peer draws other samples.
    model = GPT2LMHeadModel(GPT2Config(
        vocab_size=words, n_positions=length, n_embd=hidden, n_layer=2,
        n_head=2, bos_token_id=0, eos_token_id=0))
    optimizer = potluck.torch.Optimizer(
        model, run="trainer", target_batch=64, optimizer="adamw", lr=3e-3,
        steps=arguments.steps, samples_per_step=batch)
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            model=model,
            args=TrainingArguments(
                output_dir=folder, per_device_train_batch_size=batch,
                max_steps=1000 * arguments.steps, save_strategy="no",
                report_to=[], disable_tqdm=True, seed=seed,
                dataloader_drop_last=True, remove_unused_columns=False),
            train_dataset=counting(64 * batch, length, words),
            optimizers=(optimizer, potluck.torch.Schedule(optimizer)),
            callbacks=[EndWithTheRun(optimizer)])
        trainer.train()


if __name__ == "__main__":
    main()
