#include "runtime/admission/authority_book.hpp"

#include <csignal>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages/expected.hpp"
#include "tests/runtime/admission/parties.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;

namespace {

invite_code code_number(std::uint8_t first) {
  invite_code x;
  x.bytes.fill(first);
  return x;
}

struct desk {
  parties all;
  support::temporary_directory folder;
  authority_book book = open();
  authority_book::terms terms{noon_ms, hour_ms, 24 * hour_ms, 2, false};

  authority_book open() const {
    auto x = authority_book::open(folder / "authority.db");
    REQUIRE(x);
    return std::move(*x);
  }
  authority_book::verdict judge(const party& who,
                                const admission_claim& claim = {}) {
    auto x = book.judge(all.at.run, who.id(), claim, terms, *all.bob.signs);
    REQUIRE(x);
    return *x;
  }
  /// Until when the claim lets it in; 0: it does not.
  std::uint64_t until(const party& who, const admission_claim& claim = {}) {
    return judge(who, claim).until_ms;
  }
  admission_claim with_code(std::uint8_t first) const {
    return {code_number(first), {}, {}, {}};
  }
  admission_claim as_machine_of(const party& person, const party& machine) {
    return {{},
            delegate_to(machine.id(), terms.now_ms + hour_ms, *person.signs),
            {},
            {}};
  }
  void add_code(std::uint8_t first, std::uint64_t uses,
                std::uint64_t until_ms = noon_ms + hour_ms) {
    REQUIRE(book.add_code(all.at.run, code_number(first), uses, until_ms,
                          10 * hour_ms));
  }
};

bool says(const std::string& sentence, const std::string& what) {
  return sentence.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("who is on no list and shows no code is told so") {
  desk d;
  const auto no = d.judge(d.all.ann);
  CHECK(no.until_ms == 0);
  CHECK(no.may_ask);
  CHECK(says(no.sentence, to_string(d.all.ann.id())));
  CHECK(says(d.judge(d.all.ann, d.with_code(1)).sentence, "does not know"));
}

TEST_CASE("a code lets in as many as it says, each as long as it stays") {
  desk d;
  d.add_code(1, 2);
  CHECK(d.until(d.all.ann, d.with_code(1)) == noon_ms + hour_ms);
  // Once let in it needs no more of it.
  CHECK(d.until(d.all.ann, d.with_code(1)) == noon_ms + hour_ms);
  CHECK(d.until(d.all.bob, d.with_code(1)) == noon_ms + hour_ms);
  const auto no = d.judge(d.all.stranger, d.with_code(1));
  CHECK(no.until_ms == 0);
  CHECK(says(no.sentence, "as often as it may"));
  d.terms.now_ms += 9 * hour_ms + hour_ms / 2;
  // The token ends with the grant.
  CHECK(d.until(d.all.ann) == noon_ms + 10 * hour_ms);
  d.terms.now_ms = noon_ms + 10 * hour_ms;
  CHECK(d.until(d.all.ann) == 0);
}

TEST_CASE("a code may be for all that come until it ends") {
  desk d;
  d.add_code(1, 0);
  for (int i = 0; i < 20; ++i)
    CHECK(d.until(party{}, d.with_code(1)) != 0);
  d.terms.now_ms += hour_ms;
  CHECK(says(d.judge(d.all.ann, d.with_code(1)).sentence, "has expired"));
}

TEST_CASE("the list is of peers and people, whose machines come with them") {
  desk d;
  REQUIRE(d.book.allow(d.all.at.run, d.all.ann.id(), noon_ms + 5 * hour_ms));
  CHECK(d.until(d.all.ann) != 0);
  party first;
  party second;
  party third;
  CHECK(d.until(first, d.as_machine_of(d.all.ann, first)) != 0);
  // With her own that makes two.
  const auto no = d.judge(second, d.as_machine_of(d.all.ann, second));
  CHECK(no.until_ms == 0);
  CHECK(says(no.sentence, "As many machines"));
  // A machine's place is free once its token is over.
  d.terms.now_ms += hour_ms;
  CHECK(d.until(second, d.as_machine_of(d.all.ann, second)) != 0);
  // And its own is, when it comes back.
  CHECK(d.until(d.all.ann) != 0);
  CHECK(says(d.judge(first, d.as_machine_of(d.all.ann, first)).sentence,
             "As many machines"));
  // What was signed for one machine is no good for another.
  CHECK(says(d.judge(third, d.as_machine_of(d.all.ann, second)).sentence,
             "another machine"));
  CHECK(d.until(third, d.as_machine_of(d.all.stranger, third)) == 0);
  // The place on the list ends, and with it the grant.
  d.terms.now_ms = noon_ms + 5 * hour_ms;
  CHECK(d.until(d.all.ann) == 0);
}

TEST_CASE("what was revoked is not granted again by the same code") {
  desk d;
  d.add_code(1, 0);
  REQUIRE(d.until(d.all.ann, d.with_code(1)) != 0);
  CHECK(*d.book.revoke(d.all.at.run, d.all.ann.id()));
  const auto no = d.judge(d.all.ann, d.with_code(1));
  CHECK(no.until_ms == 0);
  CHECK_FALSE(no.may_ask);
  CHECK(says(no.sentence, "has ended what it had granted"));
  CHECK_FALSE(*d.book.revoke(d.all.at.run, d.all.bob.id()));
  // The organiser changes their mind.
  REQUIRE(d.book.allow(d.all.at.run, d.all.ann.id(), authority_book::for_ever));
  CHECK(d.until(d.all.ann) != 0);
}

TEST_CASE("a program's yes is a grant") {
  desk d;
  CHECK(d.until(d.all.ann) == 0);
  d.terms.vetted = true;
  CHECK(d.until(d.all.ann) != 0);
  d.terms.vetted = false;
  CHECK(d.until(d.all.ann) != 0);
  const auto all = d.book.grants(d.all.at.run);
  REQUIRE(all);
  REQUIRE(all->size() == 1);
  CHECK(all->front().how == "program");
  CHECK(all->front().who == d.all.ann.id());
  CHECK(all->front().machines == 1);
  CHECK(all->front().until_ms == noon_ms + 24 * hour_ms);
  CHECK(d.book.grants(run_number(8))->empty());
}

TEST_CASE("what was committed is there after the process was killed") {
  const parties all;
  support::temporary_directory folder;
  const auto path = folder / "authority.db";
  int told[2];
  REQUIRE(::pipe(told) == 0);
  // The child grants as fast as it can, and says how far it has come; what it
  // has said must be in the book whenever it is killed.
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto book = authority_book::open(path);
    for (std::uint32_t i = 1; book; ++i) {
      peer_id who;
      for (std::size_t at = 0; at < sizeof(i); ++at)
        who.bytes[at] = static_cast<std::uint8_t>(i >> (8 * at));
      if (!book->begin()
          || !book->judge(all.at.run, who, {},
                          {noon_ms, hour_ms, hour_ms, 2, true}, *all.bob.signs)
          || !book->commit() || ::write(told[1], &i, sizeof(i)) != sizeof(i))
        break;
    }
    ::_exit(1);
  }
  ::close(told[1]);
  std::uint32_t last = 0;
  std::uint32_t i = 0;
  while (last < 20 && ::read(told[0], &i, sizeof(i)) == sizeof(i))
    last = i;
  CHECK(last == 20);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  while (::read(told[0], &i, sizeof(i)) == sizeof(i))
    last = i;
  ::close(told[0]);
  auto again = authority_book::open(path);
  REQUIRE(again);
  const auto granted = again->grants(all.at.run);
  REQUIRE(granted);
  CHECK(granted->size() >= last);
}

TEST_CASE("two processes have the book open, and half a change is none") {
  desk d;
  auto other = d.open();
  REQUIRE(d.book.begin());
  d.add_code(1, 0);
  CHECK(d.book.commit());
  auto x = other.judge(d.all.at.run, d.all.ann.id(), d.with_code(1), d.terms,
                       *d.all.bob.signs);
  REQUIRE(x);
  CHECK(x->until_ms != 0);
}

TEST_CASE("a file that is none is refused with a sentence") {
  CHECK_FALSE(authority_book::open("/nowhere/authority.db"));
  support::temporary_directory folder;
  const auto path = folder / "authority.db";
  std::ofstream{path} << std::string(5000, 'x');
  auto x = authority_book::open(path);
  REQUIRE_FALSE(x);
  CHECK(says(x.error(), path));
}
