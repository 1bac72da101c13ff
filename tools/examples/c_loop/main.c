/* A training loop in C that takes part in a run: a line is fitted to points,
 * which each peer draws for itself.
 *
 *     c_loop SEED PEERS [NAME=VALUE]...
 *
 * It waits until so many peers are there; the names are those of potluck_set.
 * In one terminal
 *
 *     c_loop 1 2 run=line steps=60 listen=127.0.0.1:7000
 *
 * and in another one
 *
 *     c_loop 2 2 run=line peer=127.0.0.1:7000
 *
 * Both print the same digest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "potluck.h"

#define BATCH 100000

static unsigned long chance;

static float uniform(void) {
  chance = (chance * 1103515245 + 12345) & 0x7fffffff;
  return (float)chance / (float)0x7fffffff * 2 - 1;
}

/* The gradient of the mean squared error over a batch; returns that error. */
static double compute(float *const tensors[2], float *const gradients[2]) {
  double loss = 0;
  int i;
  gradients[0][0] = gradients[1][0] = 0;
  for (i = 0; i < BATCH; ++i) {
    float x = uniform();
    float y = 3 * x + 1 + uniform() / 10;
    float error = tensors[0][0] * x + tensors[1][0] - y;
    gradients[0][0] += 2 * error * x / BATCH;
    gradients[1][0] += 2 * error / BATCH;
    loss += error * error / BATCH;
  }
  return loss;
}

static int give_up(potluck_run run) {
  fprintf(stderr, "c_loop: %s\n", potluck_error(run));
  return 1;
}

static int set(potluck_run run, const char *word) {
  char name[64];
  const char *middle = strchr(word, '=');
  if (!middle || middle - word >= (long)sizeof(name))
    return POTLUCK_MISTAKE;
  memcpy(name, word, middle - word);
  name[middle - word] = '\0';
  return potluck_set(run, name, middle + 1);
}

int main(int argc, char **argv) {
  float slope = 0, offset = 0, slopes, offsets;
  float *tensors[2], *gradients[2];
  const float *given[2];
  const long one[1] = {1};
  char digest[33], event[4096];
  struct potluck_status status;
  unsigned long peers = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
  potluck_run run = potluck_new();
  int outcome, i;

  tensors[0] = &slope;
  tensors[1] = &offset;
  given[0] = gradients[0] = &slopes;
  given[1] = gradients[1] = &offsets;
  chance = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  slope = uniform(); /* Where training begins, if this peer founds the run. */
  offset = uniform();
  potluck_set(run, "identity-dir", "none");
  potluck_set(run, "target-batch", "4000000");
  potluck_set(run, "learning-rate", "0.1");
  for (i = 3; i < argc; ++i)
    if (set(run, argv[i]) < 0)
      return give_up(run);
  potluck_tensor(run, "slope", one, 1, POTLUCK_DECAYS, &slope);
  potluck_tensor(run, "offset", one, 1, POTLUCK_FIXED, &offset);
  if (potluck_open(run) < 0)
    return give_up(run);
  status.size = sizeof(status);
  do
    outcome = potluck_take(run, tensors, 1.0);
  while (outcome == POTLUCK_TIMEOUT);
  while (potluck_status(run, &status) == POTLUCK_OK && status.peers < peers)
    potluck_event(run, event, sizeof(event), 0.1);
  while (outcome == POTLUCK_OK || outcome == POTLUCK_SAME) {
    double loss = compute(tensors, gradients);
    do
      outcome = potluck_add(run, given, BATCH, loss, 1.0);
    while (outcome == POTLUCK_TIMEOUT);
    if (outcome < 0)
      break;
    do
      outcome = potluck_take(run, tensors, 1.0);
    while (outcome == POTLUCK_TIMEOUT);
  }
  if (outcome < 0)
    return give_up(run);
  potluck_status(run, &status);
  potluck_digest(run, digest);
  printf("y = %.2f x + %.2f, digest %s, loss %.4f, %lu samples, %lu too late\n",
         slope, offset, digest, status.loss, status.own, status.stale);
  potluck_leave(run, 10.0);
  potluck_free(run);
  return 0;
}
