#include "runtime/admission/authority_desk.hpp"

#include <chrono>
#include <ctime>

#include <doctest/doctest.h>

#include "tests/runtime/admission/parties.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;

namespace {

struct office {
  parties all;
  support::temporary_directory folder;
  std::string run = run_key("poems", all.at.run);
  std::shared_ptr<list_runs> by_list = std::make_shared<list_runs>();
  authority_desk desk = make();

  authority_desk make() {
    auto book = authority_book::open(folder / "authority.db");
    REQUIRE(book);
    invite_code code;
    code.bytes.fill(5);
    static_cast<void>(book->add_code(all.at.run, code, 0,
                                     authority_book::for_ever, 24 * hour_ms));
    return {std::move(*book),
            {{run},
             all.authority.signs,
             hour_ms,
             24 * hour_ms,
             16,
             false,
             by_list}};
  }
  static std::string with_code() {
    admission_claim x;
    x.code.bytes.fill(5);
    return to_bytes(x);
  }
  authority_desk::claim claim(const party& who, const std::string& bytes) {
    return {who.id(), {3, run, bytes}};
  }
};

} // namespace

TEST_CASE("each claim gets one answer, and what is granted lets in") {
  office o;
  auto ann = o.claim(o.all.ann, office::with_code());
  auto stranger = o.claim(o.all.stranger, to_bytes(admission_claim{}));
  auto nonsense = o.claim(o.all.bob, "\x1b[2J");
  auto elsewhere = ann;
  elsewhere.what.run = run_key("verse", run_number(9));
  auto x = o.desk.look_at({ann, stranger, nonsense, elsewhere}, noon_ms);
  CHECK(x.trouble == "");
  REQUIRE(x.answers.size() == 4);
  for (auto& answer : x.answers) {
    CHECK(answer.what.token == 3);
    CHECK(answer.what.admission.empty() != answer.what.sentence.empty());
  }
  auto token = read_admission(x.answers[0].what.admission);
  REQUIRE(token);
  CHECK(o.all.problem(*token, o.all.ann) == "");
  CHECK(token->expiry_ms == noon_ms + hour_ms);
  CHECK(x.answers[1].what.sentence.find("has nobody of this key")
        != std::string::npos);
  CHECK(x.answers[2].what.sentence.find("claim is none") != std::string::npos);
  CHECK(x.answers[3].what.sentence.find("no authority of run")
        != std::string::npos);
}

TEST_CASE(
    "once a run admits by its list alone no code counts, nor what one has "
    "granted") {
  office o;
  const auto code = office::with_code();
  const auto answer = [&](const party& who) {
    return o.desk.look_at({o.claim(who, code)}, noon_ms).answers.at(0).what;
  };
  CHECK(answer(o.all.ann).sentence == "");
  o.by_list->set(o.run, true);
  for (const auto* who : {&o.all.ann, &o.all.bob})
    CHECK(answer(*who).sentence.find("by its authority's list alone")
          != std::string::npos);
  // The organiser has somebody on the list, from another process.
  auto book = authority_book::open(o.folder / "authority.db");
  REQUIRE(book);
  REQUIRE(book->allow(o.all.at.run, o.all.bob.id(), authority_book::for_ever));
  CHECK(answer(o.all.bob).sentence == "");
  CHECK_FALSE(answer(o.all.ann).sentence.empty());
  // Codes count again where the organiser says so.
  o.by_list->set(o.run, false);
  CHECK(answer(o.all.ann).sentence == "");
}

TEST_CASE("one core renews more than 500 tokens a second, each on the disk") {
  office o;
  std::vector<authority_desk::claim> all(
      1000, o.claim(o.all.ann, office::with_code()));
  for (auto& x : all)
    x.from = party{}.id();
  REQUIRE(o.desk.look_at(all, noon_ms).answers.size() == all.size());
  const auto began = std::clock();
  // As they come: what waits while the disk is busy is answered together.
  for (std::size_t i = 0; i < all.size(); i += 50)
    CHECK(o.desk
              .look_at({all.begin() + std::ptrdiff_t(i),
                        all.begin() + std::ptrdiff_t(i + 50)},
                       noon_ms + hour_ms)
              .answers.size()
          == 50);
  const double seconds = double(std::clock() - began) / CLOCKS_PER_SEC;
  MESSAGE("renewals a second of processor time: " << all.size() / seconds);
  CHECK(all.size() / seconds > 500);
}
