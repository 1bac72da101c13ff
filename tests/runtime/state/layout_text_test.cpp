#include "runtime/state/layout_text.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

model_layout some_layout() {
  model_layout x;
  x.add("layer.0.weight", {4, 2}, true, 0, 0);
  x.add("layer.0.bias", {4}, false, 0, 0);
  x.add("temperature", {}, false, 0, 0);
  x.add_buffer("running_mean", {4}, 0);
  return x;
}

} // namespace

TEST_CASE("a layout is read as it was written") {
  const auto text = to_layout_text(some_layout());
  CHECK(text
        == "layer.0.weight 4x2 decays\n"
           "layer.0.bias 4 fixed\n"
           "temperature scalar fixed\n"
           "running_mean 4 buffer\n");
  auto read = read_layout_text(text);
  REQUIRE(read);
  CHECK(read->values() == 17);
  CHECK(read->entries()[3].buffer);
  CHECK_FALSE(read->entries()[1].buffer);
  CHECK(read->entries()[2].values == 1);
  CHECK(read->entries()[0].shape == std::vector<std::int64_t>{4, 2});
  CHECK(layout_difference(some_layout(), *read).empty());
}

TEST_CASE("what is no layout is refused with its line") {
  for (const std::string bad :
       {"", "a 4 decays", "a 4x decays\n", "a 4x-1 decays\n", "a 0 decays\n",
        "a 04 decays\n", "a 4 often\n", "a\n", "a 4 decays\na 4 decays\n",
        "a 1x1x1x1x1x1x1x1x1 fixed\n", "a 99999999999999999999 fixed\n",
        "a 4294967296x4294967296x4294967296 fixed\n",
        "a 17179869184 fixed\nb 1 fixed\n"}) {
    CAPTURE(bad);
    auto read = read_layout_text(bad);
    REQUIRE_FALSE(read);
    CHECK(read.error().find("layout") != std::string::npos);
  }
}

TEST_CASE("the first tensor that differs is named with both its shapes") {
  const auto here = some_layout();
  model_layout there;
  there.add("layer.0.weight", {4, 2}, true, 0, 0);
  CHECK(layout_difference(here, there)
        == "tensor 2 is layer.0.bias 4 fixed here and missing there");
  there.add("layer.0.bias", {5}, false, 0, 0);
  CHECK(layout_difference(here, there)
        == "tensor 2 is layer.0.bias 4 fixed here and layer.0.bias 5 fixed "
           "there");
  CHECK(layout_difference(here, here).empty());
}
