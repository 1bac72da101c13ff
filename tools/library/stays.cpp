/// Symbols of the C library's that this shared object has in its own way.
///
/// Nothing of ours is destroyed when the process exits: peers' threads may
/// still be running then, where somebody has exited without leaving, and use
/// what would be destroyed under them. All objects linked into the library
/// register destructors here, and are never unloaded (-z nodelete).
extern "C" {

__attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*,
                                                       void*) {
  return 0;
}

__attribute__((visibility("hidden"))) int atexit(void (*)(void)) {
  return 0;
}

// GLPK opens libraries of databases by these, for tables that nobody reads
// here; Debian has no archive of them.
#define POTLUCK_ABSENT(result, name, ...)                                      \
  __attribute__((visibility("hidden"))) result name(__VA_ARGS__)
POTLUCK_ABSENT(int, lt_dlinit, void) {
  return 1;
}
POTLUCK_ABSENT(int, lt_dlexit, void) {
  return 0;
}
POTLUCK_ABSENT(void*, lt_dlopen, const char*) {
  return nullptr;
}
POTLUCK_ABSENT(void*, lt_dlsym, void*, const char*) {
  return nullptr;
}
POTLUCK_ABSENT(int, lt_dlclose, void*) {
  return 0;
}
POTLUCK_ABSENT(const char*, lt_dlerror, void) {
  return "not a part of libpotluck";
}
}
