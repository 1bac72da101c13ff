#include "tools/lab/scenario/fault_kind.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace potluck;

TEST_CASE(
    "the traits stand in the order of the kinds, with names of their own") {
  std::set<std::string> names;
  std::size_t number = 0;
  for (const auto& x : fault_traits()) {
    CAPTURE(x.name);
    CHECK(static_cast<std::size_t>(x.kind) == number++);
    CHECK(&trait_of(x.kind) == &x);
    CHECK(to_string(x.kind) == x.name);
    CHECK(names.insert(x.name).second);
    CHECK_FALSE(x.meaning.empty());
  }
  // `join` is the last kind, so none is left out.
  CHECK(static_cast<std::size_t>(fault_kind::join) + 1 == number);
}

TEST_CASE("every kind can happen somewhere, and an amount of it ends") {
  for (const auto& x : fault_traits()) {
    CAPTURE(x.name);
    CHECK((x.in_simulation || x.in_chaos));
    if (x.has_amount)
      CHECK(x.lasts);
  }
}

TEST_CASE("what is no kind of fault has no trait") {
  CHECK_THROWS(trait_of(static_cast<fault_kind>(fault_traits().size())));
}
