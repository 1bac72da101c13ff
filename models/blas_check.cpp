#include "models/blas_check.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <link.h>

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

std::string slow_blas_remedy() {
  const char* threads = std::getenv("OPENBLAS_NUM_THREADS");
  return blas_remedy(loaded_blas(), threads ? threads : "");
}

} // namespace potluck
