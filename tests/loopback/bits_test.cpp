/// Equal bits on unequal machines.

#include "tests/loopback/scene.hpp"

#include <doctest/doctest.h>

using namespace potluck::loopback;

TEST_CASE("peers with other threads and other BLAS kernels hold the same bits "
          "after every step") {
  scene s;
  // Matrices large enough for the kernels to differ and threads to be used.
  auto settings = tiny_run(96, 25) + words{"--hidden-size",       "128",
                                           "--intermediate-size", "256",
                                           "--embedding-size",    "64",
                                           "--sequence-length",   "32"};
  auto seed = s.bootstrap().address();
  struct machine {
    const char* name;
    const char* threads;
    const char* kernels;
  };
  std::vector<peer*> all;
  for (auto& m :
       {machine{"haswell", "1", "Haswell"}, machine{"nehalem", "2", "Nehalem"},
        machine{"prescott", "1", "Prescott"}})
    // PyTorch and MKL have kernels of their own to choose.
    all.push_back(&s.join(
        m.name, words{"--peer", seed, "--threads", m.threads} + settings,
        {{"OPENBLAS_CORETYPE", m.kernels},
         {"ATEN_CPU_CAPABILITY",
          m.kernels == std::string{"Haswell"} ? "" : "default"}}));
  check_all_finish(all);
  CHECK(check_equal_digests(all) >= 20);
  for (auto p : all) {
    auto shares = 0.0;
    for (auto& x : p->log.named("step"))
      shares += x.at("share").get<double>();
    CHECK(shares > 0); // Its own arithmetic is in the result.
  }
}
