#include "models/blas_check.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <link.h>

#include "models/blas_kernels.hpp"
#include "models/catalogue.hpp"

namespace potluck {

std::string loaded_blas() {
  std::string found;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* context) {
        const std::filesystem::path path(library->dlpi_name);
        const auto name = path.filename().string();
        if (name.rfind("libblas.so", 0) != 0
            && name.rfind("libopenblas", 0) != 0)
          return 0;
        // Debian's libblas.so.3 is a link to the flavour that was chosen.
        std::error_code error;
        const auto resolved = std::filesystem::canonical(path, error);
        *static_cast<std::string*>(context)
            = error ? path.string() : resolved.string();
        return 1;
      },
      &found);
  return found;
}

std::string blas_remedy(const std::string& path,
                        const std::string& openblas_threads) {
  auto contains
      = [&](const char* part) { return path.find(part) != std::string::npos; };
  if (contains("openblas-pthread") && openblas_threads != "1")
    return "OpenBLAS (" + path
           + ") starts threads of its own beside LibTorch's and slows training "
             "down: apt-get install libopenblas0-openmp, or set "
             "OPENBLAS_NUM_THREADS=1.";
  for (const char* fast : {"openblas", "mkl", "blis", "atlas"})
    if (contains(fast))
      return {};
  if (path.empty())
    return {};
  return "LibTorch uses the reference BLAS (" + path
         + "), many times slower than it could be: apt-get install "
           "libopenblas0-openmp.";
}

std::string kernels_remedy(const std::string& running,
                           const std::string& better) {
  if (better.empty())
    return {};
  return "OpenBLAS runs its " + running
         + " kernels, up to five times slower than this processor can: set "
           "OPENBLAS_CORETYPE="
         + better + " before the program starts.";
}

std::string slow_blas_remedy() {
  const char* threads = std::getenv("OPENBLAS_NUM_THREADS");
  auto remedy = blas_remedy(loaded_blas(), threads ? threads : "");
  const auto running = blas_kernels();
  const auto kernels
      = kernels_remedy(running, better_kernels(running, vector_units_here()));
  return remedy.empty() || kernels.empty() ? remedy + kernels
                                           : remedy + " " + kernels;
}

std::string blas_in_use() {
  const auto kernels = blas_kernels();
  if (!kernels.empty())
    return "OpenBLAS, with its " + kernels + " kernels";
  const auto path = loaded_blas();
  return path.empty() ? "what LibTorch contains" : path;
}

} // namespace potluck
