/// Which linear algebra library LibTorch got. Torch-free.
#pragma once

#include <string>

namespace potluck {

/// The resolved path of the BLAS library that this process has loaded; empty
/// when it has none of its own, as with a LibTorch that contains one.
std::string loaded_blas();

/// A sentence that mends the BLAS at `path`; empty when it needs no mending.
/// `openblas_threads` is the environment variable OPENBLAS_NUM_THREADS.
std::string blas_remedy(const std::string& path,
                        const std::string& openblas_threads);

} // namespace potluck
