/// xxHash, with the widest vector instructions that this processor has where
/// the library can choose when it runs: then it is two to three times as fast.
/// The hashes are the same everywhere.
#pragma once

#include <xxhash.h>
#ifdef XXHASH_DISPATCH
#include <xxh_x86dispatch.h> // Puts its functions in place of the others.
#endif
