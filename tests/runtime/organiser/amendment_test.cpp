#include "runtime/organiser/amendment.hpp"
#include "runtime/organiser/amendment_book.hpp"

#include <doctest/doctest.h>

#include "runtime/manifest/byte_reader.hpp"
#include "tests/runtime/organiser/signed_amendments.hpp"

using namespace potluck;
using namespace potluck::amendments;

namespace {

using verdict = read_amendment::verdict;

read_amendment read(const std::string& x) {
  return read_amendment_of(run(), {organiser().public_half()}, x);
}

peer_id somebody(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

std::vector<run_change> one_of_each() {
  roll_back back{20, {}};
  back.state.bytes[3] = 9;
  return {new_steps{60}, new_rate_tail{10},
          pause_run{},   resume_run{},
          finish_run{},  new_bans{false, {somebody(1), somebody(2)}},
          back,          new_admission{admission_mode::token}};
}

} // namespace

TEST_CASE("what was signed is read again, whatever it changes") {
  for (const auto& change : one_of_each()) {
    auto x = of(3, change, 41);
    x.reason = "We have learnt enough.";
    const auto again = read(bytes(x));
    CAPTURE(again.sentence);
    REQUIRE(again.is == verdict::sound);
    CHECK(again.what.number == 3);
    CHECK(again.what.from == 41);
    CHECK(again.what.signed_ms == x.signed_ms);
    CHECK(again.what.reason == x.reason);
    CHECK(again.what.change.index() == change.index());
    CHECK(bytes(again.what) == bytes(x));
    CHECK_FALSE(to_sentence(change, 41).empty());
  }
}

TEST_CASE("an amendment with one bit changed is refused") {
  const auto sound = bytes(of(1, new_steps{60}, 5));
  for (std::size_t i = 0; i < sound.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = sound;
      changed[i] = static_cast<char>(changed[i] ^ (1 << bit));
      CAPTURE(i);
      CHECK(read(changed).is == verdict::wrong);
    }
}

TEST_CASE("an amendment cut short, or with more behind it, is refused") {
  const auto sound = bytes(of(1, pause_run{}, 5));
  for (std::size_t size = 0; size < sound.size(); ++size)
    CHECK(read(sound.substr(0, size)).is == verdict::wrong);
  CHECK(read(sound + "x").is == verdict::wrong);
  CHECK(read(std::string(1 << 20, 'x')).is == verdict::wrong);
}

TEST_CASE("only an organiser's key counts, and only for its run") {
  const auto other = key_pair::generate();
  const auto forged = read(bytes(of(1, finish_run{}), other));
  CHECK(forged.is == verdict::wrong);
  CHECK(forged.sentence.find("no organiser") != std::string::npos);

  auto elsewhere = of(1, finish_run{});
  elsewhere.run.bytes[0] = 8;
  const auto foreign = read(bytes(elsewhere));
  CHECK(foreign.is == verdict::wrong);
  CHECK(foreign.sentence.find("another run") != std::string::npos);

  const auto by_successor = read_amendment_of(
      run(), {organiser().public_half(), other.public_half()},
      bytes(of(1, finish_run{}), other));
  CHECK(by_successor.is == verdict::sound);
}

TEST_CASE("what a newer version signs is not understood, and is no lie") {
  auto body = bytes(of(1, pause_run{}, 5));
  body.resize(body.size() - public_key::size - signature::size);
  body.back() = 99; // The kind of change.
  append_id(body, organiser().public_half());
  append_id(body, organiser().sign("potluck amendment\n" + body));
  CHECK(read(body).is == verdict::newer);
}

TEST_CASE("what cannot be is no amendment") {
  for (const auto& change : std::vector<run_change>{
           new_steps{0}, new_rate_tail{0}, new_bans{},
           new_bans{false, {somebody(1), somebody(1)}},
           new_bans{false, std::vector<peer_id>(101)}, roll_back{0, {}}})
    CHECK_FALSE(problem_with(of(1, change)).empty());
  CHECK_FALSE(problem_with(of(0, pause_run{})).empty());
  auto ill = of(1, pause_run{});
  ill.reason = "\x1b[31mred";
  CHECK_FALSE(problem_with(ill).empty());
  ill.reason = std::string(201, 'x');
  CHECK_FALSE(problem_with(ill).empty());
  // An organiser that signs it all the same is not believed.
  CHECK(read(bytes(of(1, new_steps{0}))).is == verdict::newer);
}

TEST_CASE("where several have to sign, fewer, or one twice, do not do") {
  const auto a = key_pair::generate();
  const auto b = key_pair::generate();
  const auto c = key_pair::generate();
  const auto stranger = key_pair::generate();
  const organisers who{{a.public_half(), b.public_half(), c.public_half()}, 2};
  const auto one = sign_amendment(of(1, pause_run{}), a);
  CHECK(read_amendment_of(run(), who, one).is == verdict::wrong);
  CHECK(signatures_on(run(), who, one) == 1);
  CHECK_FALSE(sign_as_well(run(), who, one, a));
  CHECK_FALSE(sign_as_well(run(), who, one, stranger));
  const auto two = sign_as_well(run(), who, one, b);
  REQUIRE(two);
  CHECK(signatures_on(run(), who, *two) == 2);
  CHECK(read_amendment_of(run(), who, *two).is == verdict::sound);
  CHECK_FALSE(sign_as_well(run(), who, *two, c));
  for (std::size_t i = 0; i < two->size(); ++i) {
    auto bent = *two;
    bent[i] ^= 1;
    CHECK(read_amendment_of(run(), who, bent).is == verdict::wrong);
  }
  // Where one is enough there is one.
  CHECK(read_amendment_of(run(), {who.keys, 1}, *two).is != verdict::sound);

  // The same, signed by another two, is no other amendment.
  amendment_book book{run(), who};
  CHECK(book.take(*two).is == amendment_book::verdict::accepted);
  const auto others
      = sign_as_well(run(), who, sign_amendment(of(1, pause_run{}), c), b);
  REQUIRE(others);
  CHECK(book.take(*others).is == amendment_book::verdict::known);
  const auto another
      = sign_as_well(run(), who, sign_amendment(of(1, resume_run{}), c), b);
  REQUIRE(another);
  CHECK(book.take(*another).is == amendment_book::verdict::contradicts);
}
