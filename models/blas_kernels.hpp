/// Which of its kernels OpenBLAS runs, and better ones where it has none for a
/// processor that is newer than itself. Torch-free.
///
/// OpenBLAS 0.3.21 (Debian 12) takes Intel's models since 2022 for a Prescott
/// of 2004, and multiplies matrices five times slower than it could (OpenBLAS
/// #4267; Debian 13 has it mended). OPENBLAS_CORETYPE names other kernels, but
/// is read only when the library is loaded.
#pragma once

#include <string>

namespace potluck {

/// The kernels that the OpenBLAS of this process runs, as "Haswell"; empty when
/// it has no OpenBLAS.
std::string blas_kernels();

/// What a processor computes with, as far as kernels differ by it.
struct vector_units {
  bool avx2 = false; ///< And FMA.
  bool avx512 = false;
  bool bfloat16 = false;
};

vector_units vector_units_here();

/// What OPENBLAS_CORETYPE should be on such a processor where OpenBLAS runs the
/// kernels `running`; empty where these suit it.
std::string better_kernels(const std::string& running, const vector_units& has);

/// For the first line of a `main` that trains. Where there are better kernels,
/// it sets OPENBLAS_CORETYPE and starts the program anew, in the same process
/// and with the same words; it does nothing where somebody has set the variable
/// already, so it starts nothing twice. Returns in all other cases.
void use_better_kernels(char** argv);

} // namespace potluck
