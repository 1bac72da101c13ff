#include <doctest/doctest.h>

#include "messages/check.hpp"

using namespace potluck;

TEST_CASE("text is UTF-8 without control characters") {
  CHECK(is_text(""));
  CHECK(is_text("plain"));
  CHECK(is_text("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x8d\xb2"));
  CHECK_FALSE(is_text("tab\t"));
  CHECK_FALSE(is_text("\x7f"));
  CHECK_FALSE(is_text(std::string("\0", 1)));
}

TEST_CASE("malformed UTF-8 is not text") {
  for (auto* bytes :
       {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
        "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82",
        "\xe2\x28\xa1", "\xf0\x9f\x8d\x28"}) {
    CAPTURE(bytes);
    CHECK_FALSE(is_text(bytes));
  }
}

TEST_CASE("tidying makes text of anything, within the limit") {
  CHECK(tidy("fine", 10) == "fine");
  CHECK(tidy("one\r\ntwo", 20) == "one  two");
  CHECK(tidy("\xff!\xc3", 10) == "?!?");
  CHECK(tidy("abcdef", 3) == "abc");
  // A character is kept whole or left out.
  CHECK(tidy("ab\xe2\x82\xac", 4) == "ab");
  CHECK(tidy("ab\xe2\x82\xac", 5) == "ab\xe2\x82\xac");
}
