#include "models/device_name.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

bool mentions(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("names of devices are read") {
  using kind = device_name::kind;
  CHECK(read_device_name("auto")->what == kind::automatic);
  CHECK(read_device_name("cpu")->what == kind::cpu);
  REQUIRE(read_device_name("cuda"));
  CHECK(read_device_name("cuda")->what == kind::cuda);
  CHECK(read_device_name("cuda")->card == 0);
  REQUIRE(read_device_name("cuda:12"));
  CHECK(read_device_name("cuda:12")->card == 12);
}

TEST_CASE("names of no device are refused with those that there are") {
  for (const auto* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x",
                           "cuda: 1", "cuda:1000", "cpu:0", "CUDA"}) {
    INFO(name);
    CHECK_FALSE(read_device_name(name));
    CHECK(mentions(problem_with_name(name, {true, 1}), "cuda:N"));
  }
}

TEST_CASE("a card that is not there is said to be missing, with the mend") {
  CHECK(mentions(problem_with_name("cuda", {false, 0}), "POTLUCK_TORCH"));
  CHECK(mentions(problem_with_name("cuda", {true, 0}), "nvidia-smi"));
  CHECK(mentions(problem_with_name("cuda:1", {true, 1}), "one, cuda:0"));
  CHECK(mentions(problem_with_name("cuda:4", {true, 4}), "cuda:0 to cuda:3"));
}

TEST_CASE("a device that is there has no problem with its name") {
  CHECK(problem_with_name("cpu", {}).empty());
  CHECK(problem_with_name("auto", {}).empty());
  CHECK(problem_with_name("cuda", {true, 1}).empty());
  CHECK(problem_with_name("cuda:3", {true, 4}).empty());
}
