#include "models/blas_kernels.hpp"

#include <array>
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

namespace potluck {

namespace {

constexpr auto variable = "OPENBLAS_CORETYPE";

/// OpenBLAS's kernels for x86-64 processors without AVX2.
constexpr std::array old_kernels{
    "Prescott", "Banias",     "Atom",         "Core2",     "Penryn",
    "Nehalem",  "Dunnington", "Sandybridge",  "Athlon",    "Opteron",
    "Nano",     "Bobcat",     "Opteron_SSE3", "Barcelona", "Bulldozer"};

} // namespace

std::string blas_kernels() {
  auto ask = reinterpret_cast<const char* (*)()>(
      ::dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  return ask ? ask() : "";
}

vector_units vector_units_here() {
  vector_units has;
#if defined(__x86_64__) && defined(__GNUC__)
  has.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  has.avx512 = __builtin_cpu_supports("avx512f")
               && __builtin_cpu_supports("avx512vl")
               && __builtin_cpu_supports("avx512bw")
               && __builtin_cpu_supports("avx512dq");
  has.bfloat16 = __builtin_cpu_supports("avx512bf16");
#endif
  return has;
}

std::string better_kernels(const std::string& running,
                           const vector_units& has) {
  for (auto old : old_kernels)
    if (running == old && has.avx2)
      return !has.avx512 ? "Haswell" : has.bfloat16 ? "Cooperlake" : "SkylakeX";
  return "";
}

void use_better_kernels(char** argv) {
  if (std::getenv(variable))
    return;
  const auto better = better_kernels(blas_kernels(), vector_units_here());
  if (better.empty() || ::setenv(variable, better.c_str(), 0) != 0)
    return;
  ::execv("/proc/self/exe", argv);
  // It goes on with what it has, and `blas_check` says so.
  ::unsetenv(variable);
}

} // namespace potluck
