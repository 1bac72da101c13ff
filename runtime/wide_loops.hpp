/// For functions that are nothing but a loop over floats.
///
/// POTLUCK_WIDE has the compiler make a second version with AVX2's registers,
/// twice as wide as what every x86-64 has; the processor decides when the
/// program starts. Both give the same bits: there is no reordering without
/// -ffast-math, and -ffp-contract=off keeps products and sums apart.
#pragma once

#ifndef POTLUCK_WIDE
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)            \
    && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define POTLUCK_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define POTLUCK_WIDE
#endif
#endif
