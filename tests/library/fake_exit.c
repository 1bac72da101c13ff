/* A program that ends in the middle of a run, without leaving it.
 *
 *     fake_exit LOG
 */
#include <stdio.h>

#include "tools/library/potluck.h"

int main(int argc, char **argv) {
  float value = 0;
  float *tensors[1];
  const long one[1] = {1};
  potluck_run run = potluck_new();
  int outcome;
  tensors[0] = &value;
  potluck_set(run, "identity-dir", "none");
  potluck_set(run, "listen", "127.0.0.1:0");
  if (argc > 1)
    potluck_set(run, "log-json", argv[1]);
  potluck_tensor(run, "value", one, 1, POTLUCK_FIXED, &value);
  if (potluck_open(run) < 0)
    return 1;
  do
    outcome = potluck_take(run, tensors, 1.0);
  while (outcome == POTLUCK_TIMEOUT);
  printf("in the middle\n");
  return outcome == POTLUCK_OK ? 0 : 1;
}
