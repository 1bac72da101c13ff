/// Which linear algebra library LibTorch got. Torch-free.
#pragma once

#include <string>

namespace potluck {

/// The resolved path of the BLAS library that this process has loaded; empty
/// when it has none of its own, as with a LibTorch that contains one.
std::string loaded_blas();

/// A sentence that mends the BLAS at `path`; empty when it needs no mending.
/// @param openblas_threads The environment variable OPENBLAS_NUM_THREADS.
std::string blas_remedy(const std::string& path,
                        const std::string& openblas_threads);

/// A sentence where OpenBLAS runs the kernels `running` and others, `better`,
/// suit the processor; empty where `better` is.
std::string kernels_remedy(const std::string& running,
                           const std::string& better);

} // namespace potluck
