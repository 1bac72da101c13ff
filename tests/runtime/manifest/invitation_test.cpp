#include "runtime/manifest/invitation.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

template <class Id>
Id some(std::uint8_t first) {
  Id x;
  for (std::size_t i = 0; i < x.bytes.size(); ++i)
    x.bytes[i] = static_cast<std::uint8_t>(first + 31 * i);
  return x;
}

invitation one() {
  invitation x;
  x.name = "poems";
  x.id = some<run_id>(1);
  x.organiser = some<public_key>(2);
  x.contacts = {{some<peer_id>(3), {"seed.example.org", 7000}},
                {some<peer_id>(4), {"2001:db8::7", 443}}};
  return x;
}

std::string text_of(const invitation& x) {
  auto text = to_text(x);
  REQUIRE(text);
  return *text;
}

std::string refusal(const std::string& text) {
  auto x = read_invitation(text);
  return x ? "read as if it were sound" : x.error();
}

bool says(const std::string& sentence, const std::string& what) {
  return sentence.find(what) != std::string::npos;
}

/// Which character of the text shows this byte of what it says.
std::size_t character_of(std::size_t byte) {
  return 8 + byte * 8 / 5;
}

} // namespace

TEST_CASE("an invitation is one word that URLs carry, and comes back whole") {
  const auto text = text_of(one());
  CHECK(text.find("potluck:") == 0);
  for (char c : text.substr(8))
    CHECK(((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')));
  auto back = read_invitation(text);
  REQUIRE(back);
  CHECK(back->name == "poems");
  CHECK(back->id == one().id);
  CHECK(back->organiser == one().organiser);
  CHECK(back->contacts == one().contacts);
  CHECK(back->run() == run_key("poems", one().id));
  CHECK(is_invitation(text));
  CHECK(is_invitation("POTLUCK:Q"));
  CHECK_FALSE(is_invitation("potluck"));
  CHECK_FALSE(is_invitation("poems"));
}

TEST_CASE("a slip is found wherever it is, and its part is named") {
  const auto text = text_of(one());
  const std::size_t bytes = 3 + 32 + 32 + 6 + 1 + 2 * (32 + 2 + 1) + 16 + 11;
  struct part {
    std::size_t byte;
    const char* name;
  };
  for (auto& [byte, name] :
       {part{1, "its beginning"}, part{10, "the run's id"},
        part{40, "the organiser's key"}, part{69, "the run's name"},
        part{90, "the addresses"}, part{bytes - 2, "the addresses"}}) {
    const auto shown = byte;
    CAPTURE(shown);
    const auto at = character_of(byte);
    auto wrong = text;
    wrong[at] = wrong[at] == 'q' ? 'p' : 'q';
    CHECK(says(refusal(wrong), std::string{", in "} + name));
    CHECK(says(refusal(wrong), "character " + std::to_string(at + 1)));
    wrong = text;
    wrong.erase(at, 1);
    CHECK(says(refusal(wrong), "one is missing"));
    CHECK(says(refusal(wrong), std::string{", in "} + name));
    wrong = text;
    if (wrong[at] == wrong[at + 1])
      continue;
    std::swap(wrong[at], wrong[at + 1]);
    CHECK(says(refusal(wrong), "are swapped, in "));
  }
  auto wrong = text;
  wrong.back() = wrong.back() == 'q' ? 'p' : 'q';
  CHECK(says(refusal(wrong), "in the check sum"));
  for (std::size_t i = 0; i < text.size(); i += 11) {
    wrong = text;
    wrong[i] = wrong[i] == 'l' ? '7' : 'l';
    CHECK(says(refusal(wrong), "This is no sound invitation: "));
  }
}

TEST_CASE("an invitation that was cut short says where") {
  const auto text = text_of(one());
  auto cut = [&](std::size_t byte) {
    return refusal(text.substr(0, character_of(byte) + 6));
  };
  CHECK(says(cut(20), "cut short in the run's id"));
  CHECK(says(cut(50), "cut short in the organiser's key"));
  CHECK(says(cut(100), "cut short in the addresses"));
  for (std::size_t size = 0; size < text.size(); size += 9)
    CHECK(says(refusal(text.substr(0, size)), "no sound invitation"));
  CHECK(says(refusal(std::string(100'000, 'q')), "longer than any"));
}

TEST_CASE("what nobody can use is not made an invitation") {
  auto fails = [](auto change) {
    auto x = one();
    change(x);
    return !to_text(x);
  };
  CHECK(fails([](auto& x) { x.contacts.clear(); }));
  CHECK(fails([](auto& x) { x.contacts.resize(4, x.contacts[0]); }));
  CHECK(fails([](auto& x) { x.contacts[0].id = {}; }));
  CHECK(fails([](auto& x) { x.contacts[0].where.port = 0; }));
  CHECK(fails([](auto& x) { x.contacts[0].where.host = ""; }));
  CHECK(fails([](auto& x) { x.contacts[0].where.host = "a b"; }));
  CHECK(fails([](auto& x) { x.contacts[0].where.host = "a\x1b[2J"; }));
  CHECK(fails([](auto& x) { x.contacts[0].where.host = "a\u202eb"; }));
  CHECK(fails([](auto& x) {
    x.contacts.resize(3, {some<peer_id>(9), {"h", 1}});
    for (auto& who : x.contacts)
      who.where.host = std::string(253, 'h');
  }));
  CHECK(fails([](auto& x) { x.name = "two words"; }));
}

TEST_CASE("an invitation to a run with an authority names it, with a code") {
  auto x = one();
  x.authority = {some<peer_id>(7), {"gate.example.org", 7001}};
  x.code = some<invite_code>(9);
  const auto text = text_of(x);
  auto back = read_invitation(text);
  REQUIRE(back);
  CHECK(back->authority == x.authority);
  CHECK(back->code == x.code);
  CHECK(back->contacts == x.contacts);
  // A slip in the code is not a slip in the addresses.
  const auto at = text.size() - 6 - 10;
  auto wrong = text;
  wrong[at] = wrong[at] == 'q' ? 'p' : 'q';
  CHECK(says(refusal(wrong), ", in the admission"));
  // Those to open runs stay what they were.
  CHECK(read_invitation(text_of(one()))->authority.id.empty());
  x.authority = {};
  CHECK_FALSE(to_text(x)); // A code that nobody could be shown.
}
