#include "runtime/admission/admission.hpp"

#include <doctest/doctest.h>

#include "messages/limits.hpp"
#include "tests/runtime/admission/parties.hpp"

using namespace potluck;

namespace {

bool says(const std::string& sentence, const std::string& what) {
  return sentence.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("a token of the authority lets its holder in, and nobody else") {
  const parties all;
  const auto x = all.token(all.ann);
  CHECK(all.problem(x, all.ann) == "");
  CHECK(says(all.problem(x, all.bob), "another peer's key"));
  auto copied = x;
  copied.holder = all.stranger.id();
  CHECK(says(all.problem(copied, all.stranger), "not signed"));
}

TEST_CASE("an organiser's token counts where the organiser's key is known") {
  parties all;
  const party organiser;
  const auto x
      = issue({all.at.run, all.ann.id(), noon_ms, noon_ms + hour_ms, {}, {}},
              *organiser.signs);
  CHECK(says(all.problem(x, all.ann), "not of the run's authority"));
  all.at.organisers = {organiser.signs->key()};
  CHECK(all.problem(x, all.ann) == "");
  CHECK(says(all.problem(x, all.bob), "another peer's key"));
  all.at.now_ms += 2 * hour_ms;
  CHECK(says(all.problem(x, all.ann), "expired"));
}

TEST_CASE("a token is for one run, of one authority, for a time") {
  parties all;
  const auto x = all.token(all.ann);
  const auto tolerance = clock_tolerance_ms(x);
  CHECK(tolerance == 3 * minute_ms);
  SUBCASE("of another run") {
    all.at.run = run_number(8);
    CHECK(says(all.problem(x, all.ann), "another run"));
  }
  SUBCASE("by somebody else") {
    const auto forged
        = issue({all.at.run, all.ann.id(), noon_ms, noon_ms + hour_ms, {}},
                *all.stranger.signs);
    CHECK(says(all.problem(forged, all.ann), "not of the run's authority"));
  }
  SUBCASE("in the name of the authority") {
    auto forged
        = issue({all.at.run, all.ann.id(), noon_ms, noon_ms + hour_ms, {}},
                *all.stranger.signs);
    forged.issuer = all.authority.signs->key();
    CHECK(says(all.problem(forged, all.ann), "not signed"));
  }
  SUBCASE("over") {
    all.at.now_ms = noon_ms + hour_ms + tolerance;
    CHECK(all.problem(x, all.ann) == "");
    ++all.at.now_ms;
    CHECK(says(all.problem(x, all.ann), "expired"));
  }
  SUBCASE("not begun, by a clock that is hours slow") {
    all.at.now_ms = noon_ms - tolerance;
    CHECK(all.problem(x, all.ann) == "");
    --all.at.now_ms;
    CHECK(says(all.problem(x, all.ann), "future"));
  }
  SUBCASE("made to last longer") {
    auto longer = x;
    longer.expiry_ms += hour_ms;
    CHECK(says(all.problem(longer, all.ann), "not signed"));
  }
  SUBCASE("longer than any token, by an authority that was robbed") {
    const auto longer = all.token(all.ann, noon_ms, 25 * hour_ms);
    CHECK(says(all.problem(longer, all.ann), "longer than any"));
  }
}

TEST_CASE("a short token is not made a long one by what clocks may be off") {
  parties all;
  const auto x = all.token(all.ann, noon_ms, 10'000);
  all.at.now_ms = noon_ms + 10'500;
  CHECK(all.problem(x, all.ann) == "");
  all.at.now_ms = noon_ms + 10'501;
  CHECK(says(all.problem(x, all.ann), "expired"));
}

TEST_CASE("a member's voucher tides over, and vouchers do not vouch") {
  parties all;
  const auto own = all.token(all.bob);
  const auto x = all.voucher(all.bob, own, all.ann);
  CHECK(all.problem(x, all.ann) == "");
  CHECK(says(all.problem(x, all.stranger), "another peer's key"));
  SUBCASE("backed by a voucher") {
    const auto second = all.voucher(all.ann, x, all.stranger);
    CHECK(
        says(all.problem(second, all.stranger), "voucher whose issuer's own"));
  }
  SUBCASE("backed by somebody else's token") {
    const auto thief = all.voucher(all.stranger, own, all.ann);
    CHECK(says(all.problem(thief, all.ann), "another peer's key"));
  }
  SUBCASE("for a key that the authority never knew") {
    auto made_up = all.voucher(all.bob, own, all.stranger);
    for (const auto& last : {std::string{}, to_bytes(own), to_bytes(x)}) {
      made_up.last = last;
      made_up = issue(made_up, *all.bob.signs);
      CHECK(says(all.problem(made_up, all.stranger),
                 "voucher whose holder's own last token"));
    }
  }
  SUBCASE("by a member that the authority let go a day ago") {
    all.at.now_ms = noon_ms + hour_ms + 24 * hour_ms;
    auto late = all.voucher(all.bob, own, all.ann, all.at.now_ms);
    CHECK(all.problem(late, all.ann) == "");
    all.at.now_ms += 2;
    CHECK(says(all.problem(late, all.ann), "more than a day ago"));
  }
  SUBCASE("for longer than an hour") {
    const auto longer
        = all.voucher(all.bob, own, all.ann, noon_ms, hour_ms + 1);
    CHECK(says(all.problem(longer, all.ann), "longer than any voucher"));
  }
  SUBCASE("in a run that takes none") {
    all.at.rules.vouchers = false;
    CHECK(says(all.problem(x, all.ann), "takes none"));
  }
  SUBCASE("over") {
    all.at.now_ms = noon_ms + 32 * minute_ms;
    CHECK(says(all.problem(x, all.ann), "expired"));
  }
}

TEST_CASE("an admission has one form in bytes, which fits its message") {
  const parties all;
  const auto voucher = all.voucher(all.bob, all.token(all.bob), all.ann);
  const auto bytes = to_bytes(voucher);
  CHECK(bytes.size() < max_admission_bytes);
  auto back = read_admission(bytes);
  REQUIRE(back);
  CHECK(to_bytes(*back) == bytes);
  CHECK(all.problem(*back, all.ann) == "");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    CHECK_FALSE(read_admission(bytes.substr(0, size)));
  CHECK_FALSE(read_admission(bytes + '\0'));
  CHECK_FALSE(read_admission(std::string(max_admission_bytes + 1, '\1')));
  // No bit of it can be changed.
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    auto x = read_admission(changed);
    CAPTURE(i);
    CHECK((!x || all.problem(*x, all.ann) != ""));
  }
}

TEST_CASE("times that would overflow are no times") {
  const parties all;
  auto read = [&](std::uint64_t from, std::uint64_t until) {
    return bool(read_admission(to_bytes(
        issue({all.at.run, all.ann.id(), from, until, {}}, *all.ann.signs))));
  };
  CHECK(read(1, 2));
  CHECK_FALSE(read(2, 2));
  CHECK_FALSE(read(3, 2));
  CHECK_FALSE(read(0, ~std::uint64_t{0}));
}

TEST_CASE("a charter says in three words whom a run admits") {
  const auto id = std::string(64, '7');
  auto rules = read_admission_rules("token", id + "@gate:7000", "no");
  REQUIRE(rules);
  CHECK(rules->closed());
  CHECK_FALSE(rules->vouchers);
  CHECK(rules->authority.where == address{"gate", 7000});
  CHECK(authority_text(rules->authority) == id + "@gate:7000");
  CHECK(read_admission_rules("list", id, "yes"));
  CHECK_FALSE(read_admission_rules("open", "none", "yes")->closed());
  for (auto& [how, authority] :
       {std::pair<std::string, std::string>{"token", "none"},
        {"open", id},
        {"token", "7"},
        {"token", id + "@"},
        {"token", id + "@gate"},
        {"token", id + "@gate:0"},
        {"token", std::string(64, '0')},
        {"token", id + "@gate:07000"}}) {
    const auto shown = authority;
    CAPTURE(shown);
    CHECK_FALSE(read_admission_rules(how, authority, "yes"));
  }
}
