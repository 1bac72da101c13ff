/// The functions of potluck.h that call experts.
#include "tools/library/guarded.hpp"

using namespace potluck;
using namespace potluck::library;

int potluck_find_experts(potluck_run run, unsigned long layer,
                         unsigned long samples, const float* scores,
                         int* places, unsigned char* alive, double seconds) {
  return guarded(run, [&](session& x) {
    return x.experts_of(layer).find(samples, needed(scores, "scores"),
                                    needed(places, "places"), alive,
                                    patience_of(seconds));
  });
}

int potluck_forward(potluck_run run, unsigned long layer, unsigned long samples,
                    const int* places, const float* inputs, float* outputs,
                    unsigned char* answered, double seconds) {
  return guarded(run, [&](session& x) {
    return x.experts_of(layer).forward(
        samples, needed(places, "places"), needed(inputs, "inputs"),
        needed(outputs, "outputs"), needed(answered, "answered"),
        patience_of(seconds));
  });
}

int potluck_backward(potluck_run run, unsigned long layer,
                     unsigned long samples, const int* places,
                     const float* inputs, const float* gradients,
                     float* input_gradients, unsigned char* answered,
                     double seconds) {
  return guarded(run, [&](session& x) {
    return x.experts_of(layer).backward(
        samples, needed(places, "places"), needed(inputs, "inputs"),
        needed(gradients, "gradients"), input_gradients,
        needed(answered, "answered"), patience_of(seconds));
  });
}
