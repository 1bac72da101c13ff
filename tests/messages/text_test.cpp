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

TEST_CASE("text neither steers a terminal nor turns what stands around it") {
  for (const char* bytes : {
           "\x1b[2J",                      // C0: clears the screen.
           "\xc2\x9b\x32J",                // C1: does so in one character.
           "\xc2\x80", "\xc2\x9f",         // The first and last C1.
           "\xd8\x9c",                     // Arabic letter mark.
           "\xe2\x80\x8e", "\xe2\x80\x8f", // Marks.
           "\xe2\x80\xa8", "\xe2\x80\xa9", // Line ends.
           "\xe2\x80\xaa", "safe\xe2\x80\xaegpj.exe", // Overrides.
           "\xe2\x81\xa6", "\xe2\x81\xa9",            // Isolates.
       }) {
    CAPTURE(bytes);
    CHECK_FALSE(is_text(bytes));
    CHECK(is_text(tidy(bytes, 100)));
  }
  CHECK(tidy("a\xc2\x9b\x62", 10) == "a b");
  // What lies beside them is text: a no-break space, a joiner, a dash.
  for (const char* bytes : {"\xc2\xa0", "\xe2\x80\x8d", "\xe2\x80\x90",
                            "\xe2\x80\xaf", "\xd7\xa9\xd7\x9c"})
    CHECK(is_text(bytes));
}
