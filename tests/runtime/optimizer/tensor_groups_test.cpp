#include "runtime/optimizer/tensor_groups.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

model_layout some_layout() {
  model_layout x;
  x.add("embedding.weight", {4, 2}, true, 0, 1);
  x.add("layer.0.norm.weight", {2}, false, 1, 0);
  x.add("layer.0.dense.weight", {2, 2}, true, 0, 1);
  x.add("layer.0.dense.bias", {2}, true, 0, 0);
  x.add("head.weight", {2, 2}, true, 0, 1);
  return x;
}

std::string reason(const std::string& decay_except, const std::string& rates) {
  auto groups = tensor_groups::read(decay_except, rates);
  if (!groups)
    return groups.error();
  auto terms = groups->terms(some_layout());
  return terms ? "" : terms.error();
}

} // namespace

TEST_CASE("patterns are names with stars") {
  CHECK(matches("head.weight", "head.weight"));
  CHECK_FALSE(matches("head.weight", "head.weights"));
  CHECK_FALSE(matches("head.weight", "ahead.weight"));
  CHECK(matches("*bias", "layer.0.dense.bias"));
  CHECK(matches("*bias", "bias"));
  CHECK_FALSE(matches("*bias", "bias.weight"));
  CHECK(matches("head.*", "head."));
  CHECK(matches("*norm*", "layer.0.norm.weight"));
  CHECK(matches("*", ""));
  CHECK(matches("a*b*c", "a.b.b.c"));
  CHECK(matches("*ab*ab", "aabab.ab"));
  CHECK_FALSE(matches("*ab*ab", "ab"));
  CHECK_FALSE(matches("", "a"));
  CHECK(matches("", ""));
  // Long names and many stars take no time.
  CHECK_FALSE(matches("*a*a*a*a*a*a*a*a*b", std::string(4000, 'a')));
}

TEST_CASE("without lists all is as the layout says") {
  const auto terms = unwrap(
      unwrap(tensor_groups::read("none", "none")).terms(some_layout()));
  REQUIRE(terms.size() == 5);
  const auto layout = some_layout();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    CHECK(terms[i].decays == layout.entries()[i].decays);
    CHECK(terms[i].rate == 1);
  }
}

TEST_CASE("lists name what does not decay, and what has another rate") {
  const auto terms
      = unwrap(unwrap(tensor_groups::read("*bias,embedding.*",
                                          "head.*:10,*weight:0.5,*norm*:0"))
                   .terms(some_layout()));
  REQUIRE(terms.size() == 5);
  std::vector<bool> decays;
  std::vector<double> rates;
  for (const auto& x : terms) {
    decays.push_back(x.decays);
    rates.push_back(x.rate);
  }
  CHECK(decays == std::vector<bool>{false, false, true, false, true});
  // The first that matches counts: the norm has that of the weights.
  CHECK(rates == std::vector<double>{0.5, 0.5, 0.5, 1, 10});
}

TEST_CASE("a list that means nothing is refused in a sentence") {
  CHECK(reason("", "none").find("decay-except must be names") == 0);
  CHECK(reason("*bias,,head.*", "none").find("decay-except must be") == 0);
  for (std::string bad :
       {"", "head.*", "head.*:", ":2", "head.*:-1", "head.*:x", "head.*:1,",
        "head.*:1e7", "head.*:nan", "head.*:inf", "head.*:0x1"})
    CHECK(reason("none", bad).find("rates must be names") == 0);
  CHECK(reason("*.bia", "none")
        == "decay-except: this model has no tensor called \"*.bia\"; leave the "
           "pattern out, or write a * where a name goes on");
  CHECK(reason("none", "haed.*:10").find("rates: this model has no tensor")
        == 0);
}
