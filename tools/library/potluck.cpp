/// The functions of potluck.h, but for experts': arguments checked, handles
/// looked up, and whatever is thrown caught.
#include "tools/library/potluck.h"

#include <cstring>
#include <thread>

#include "tools/library/guarded.hpp"
#include "tools/library/without_signals.hpp"

using namespace potluck;
using namespace potluck::library;

const char* potluck_version(void) {
  return POTLUCK_VERSION;
}

int potluck_interface(void) {
  return POTLUCK_INTERFACE;
}

potluck_run potluck_new(void) {
  if (is_forked())
    return 0;
  try {
    if (const auto made = add_handle())
      return made;
    note_stray_problem("there are " + std::to_string(most_handles)
                       + " handles already; free one with potluck_free");
  } catch (const std::exception&) {
    // There is no memory even for a sentence.
  }
  return 0;
}

int potluck_set(potluck_run run, const char* name, const char* value) {
  return guarded(run, [&](session& x) {
    x.set(needed(name, "name"), needed(value, "value"));
    return POTLUCK_OK;
  });
}

long potluck_get(potluck_run run, const char* name, char* text,
                 unsigned long size) {
  return guarded(run, [&](session& x) -> long {
    return put(x.get(needed(name, "name")), text, size);
  });
}

int potluck_tensor(potluck_run run, const char* name, const long* shape,
                   int dimensions, int decays, const float* values) {
  return guarded(run, [&](session& x) {
    needed(name, "name");
    if (dimensions < 0 || dimensions > static_cast<int>(max_dimensions))
      throw complaint{"dimensions is " + std::to_string(dimensions)
                      + ", but must be 0 to " + std::to_string(max_dimensions)};
    if (dimensions > 0)
      needed(shape, "shape");
    if (decays != POTLUCK_DECAYS && decays != POTLUCK_FIXED)
      throw complaint{"decays must be POTLUCK_DECAYS or POTLUCK_FIXED"};
    x.declare(name, {shape, shape + dimensions}, decays == POTLUCK_DECAYS,
              values);
    return POTLUCK_OK;
  });
}

int potluck_create(potluck_run run, char* invitation, unsigned long size) {
  return guarded(run, [&](session& x) {
    const auto text = x.create();
    if (put(text, invitation, size) >= static_cast<long>(size))
      throw complaint{"the invitation has " + std::to_string(text.size())
                      + " characters, and `size` leaves no room for them"};
    return POTLUCK_OK;
  });
}

int potluck_load(potluck_run run, const char* path) {
  return guarded(run, [&](session& x) {
    x.load(needed(path, "path"));
    return POTLUCK_OK;
  });
}

int potluck_open(potluck_run run) {
  return guarded(run, [&](session& x) {
    x.open();
    note_opened();
    return POTLUCK_OK;
  });
}

int potluck_add(potluck_run run, const float* const* gradients,
                unsigned long samples, double loss, double seconds) {
  return guarded(run, [&](session& x) {
    return x.add({nullptr, needed(gradients, "gradients")}, samples, loss,
                 patience_of(seconds));
  });
}

int potluck_add_flat(potluck_run run, const float* gradient,
                     unsigned long samples, double loss, double seconds) {
  return guarded(run, [&](session& x) {
    return x.add({needed(gradient, "gradient"), nullptr}, samples, loss,
                 patience_of(seconds));
  });
}

int potluck_take(potluck_run run, float* const* parameters, double seconds) {
  return guarded(run, [&](session& x) {
    return x.take({nullptr, needed(parameters, "parameters")},
                  patience_of(seconds));
  });
}

int potluck_take_flat(potluck_run run, float* parameters, double seconds) {
  return guarded(run, [&](session& x) {
    return x.take({needed(parameters, "parameters"), nullptr},
                  patience_of(seconds));
  });
}

int potluck_status(potluck_run run, struct potluck_status* status) {
  return guarded(run, [&](session& x) {
    const auto size = needed(status, "status")->size;
    if (size < sizeof(status->size) || size > sizeof(struct potluck_status))
      throw complaint{"status->size must be sizeof(struct potluck_status)"};
    struct potluck_status whole {};
    x.look(whole);
    whole.size = size;
    std::memcpy(status, &whole, size);
    return POTLUCK_OK;
  });
}

long potluck_event(potluck_run run, char* text, unsigned long size,
                   double seconds) {
  return guarded(run, [&](session& x) -> long {
    if (size > 0)
      needed(text, "text");
    const auto next = x.next_event(size, patience_of(seconds));
    return next ? put(*next, text, size) : 0;
  });
}

int potluck_digest(potluck_run run, char digest[33]) {
  return guarded(run, [&](session& x) {
    put(x.digest(), needed(digest, "digest"), 33);
    return POTLUCK_OK;
  });
}

int potluck_save(potluck_run run, const char* path) {
  return guarded(run, [&](session& x) {
    x.save(needed(path, "path"));
    return POTLUCK_OK;
  });
}

int potluck_moments(potluck_run run, unsigned long* step, float* const* first,
                    float* const* second) {
  return guarded(run, [&](session& x) {
    const auto at = x.moments(first, second);
    if (step)
      *step = at;
    return POTLUCK_OK;
  });
}

int potluck_set_moments(potluck_run run, unsigned long step,
                        const float* const* first, const float* const* second) {
  return guarded(run, [&](session& x) {
    x.set_moments(step, first, second);
    return POTLUCK_OK;
  });
}

int potluck_leave(potluck_run run, double seconds) {
  return guarded(run,
                 [&](session& x) { return x.leave(patience_of(seconds)); });
}

int potluck_free(potluck_run run) {
  return guarded(run, [&](session&) {
    auto last = take_handle(run);
    try {
      last->begin_to_leave();
      if (last->leave(std::chrono::milliseconds{500}) != POTLUCK_OK) {
        // What does not end in time ends beside the caller.
        const without_signals unheard;
        std::thread{[last] { last->leave(std::chrono::minutes{1}); }}.detach();
      }
    } catch (const complaint&) {
      // It was not open.
    }
    return POTLUCK_OK;
  });
}

const char* potluck_error(potluck_run run) {
  if (is_forked())
    return forked;
  thread_local std::string sentence;
  try {
    sentence = run == 0 ? stray_problem() : find_handle(run)->problem();
  } catch (const std::exception& x) {
    sentence = x.what();
  }
  return sentence.c_str();
}
