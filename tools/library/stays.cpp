/// Nothing of this shared object is destroyed when the process exits: threads
/// of peers may still run then, where somebody has exited without leaving, and
/// use what would be destroyed under them.
///
/// All objects that are linked into it register their destructors here instead
/// of with the C library, and it is never unloaded (-z nodelete).

#define POTLUCK_INSIDE __attribute__((visibility("hidden")))

extern "C" {

POTLUCK_INSIDE int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}

POTLUCK_INSIDE int atexit(void (*)(void)) {
  return 0;
}
}
