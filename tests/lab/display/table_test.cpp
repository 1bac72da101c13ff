#include "tools/lab/display/table.hpp"

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("columns are aligned, numbers to the right") {
  CHECK(table({{"peer", "samples/s", "note"},
               {"anna", "9.5", "fast"},
               {"b", "120", ""}})
        == "peer  samples/s  note\n"
           "----  ---------  ----\n"
           "anna        9.5  fast\n"
           "b           120\n");
}

TEST_CASE("a table of nothing is empty and ragged rows are filled") {
  CHECK(table({}) == "");
  CHECK(table({{"a"}, {"x", "y"}}) == "a\n-  -\nx  y\n");
}

TEST_CASE("letters outside ASCII take one column") {
  CHECK(table({{"name", "n"}, {"ন", "1"}, {"zoë", "2"}})
        == "name  n\n----  -\nন     1\nzoë   2\n");
}

TEST_CASE("a cell cannot drive the terminal") {
  auto text = table({{"name"}, {"\x1b[2J\n\xc2\x9b"}});
  CHECK(text == "name\n------\n?[2J??\n");
}
