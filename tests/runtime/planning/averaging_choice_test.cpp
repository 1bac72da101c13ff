#include "runtime/planning/averaging_choice.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace potluck;

namespace {

constexpr double mbit = 125e3; ///< Bytes a second.
constexpr std::size_t group_size = 8;

contact contact_of(std::uint8_t number) {
  contact x;
  x.id.bytes[0] = number;
  x.where = {"10.0.0." + std::to_string(number), 7000};
  return x;
}

/// A crowd behind as many members as a group has, alike but for rounding.
struct people {
  std::size_t members = group_size;
  std::size_t contributors = 232; ///< Of all members together.
  std::size_t apart = 120;        ///< Of these.
  double upload = 20 * mbit;
  double download = 20 * mbit;
  double apart_upload = 0; ///< 0: like the members'.
  double apart_download = 0;
  double samples_per_second = 1e4; ///< Of all: computing takes next to nothing.
  std::uint64_t parameters = 10'000'000;
  std::uint64_t samples = 4096;
};

group_contract contract_of(const people& x) {
  group_contract result;
  result.gradient_values = x.parameters;
  result.chunk_values = 131072;
  auto part = [&](std::size_t of, std::size_t i) {
    return static_cast<std::uint32_t>(of * (i + 1) / x.members
                                      - of * i / x.members);
  };
  for (std::size_t i = 0; i < x.members; ++i) {
    group_member m;
    m.who = contact_of(static_cast<std::uint8_t>(i + 1));
    m.samples = x.samples / x.members;
    m.upload_bytes_per_second = x.upload;
    m.download_bytes_per_second = x.download;
    m.cell.samples_per_second
        = x.samples_per_second / static_cast<double>(x.members);
    m.cell.contributors = part(x.contributors, i);
    m.cell.apart = part(x.apart, i);
    if (m.cell.apart > 0) {
      m.cell.upload_bytes_per_second
          = x.apart_upload > 0 ? x.apart_upload : x.upload;
      m.cell.download_bytes_per_second
          = x.apart_download > 0 ? x.apart_download : x.download;
    }
    result.members.push_back(m);
  }
  return result;
}

averaging_choice choose(const people& x, const std::string& obstacle = {}) {
  return choose_averaging(contract_of(x), group_size, obstacle);
}

bool says(const averaging_choice& x, const std::string& what) {
  return x.why.find(what) != std::string::npos;
}

} // namespace

TEST_CASE("who fits into a group is one") {
  for (std::size_t members : {1u, 2u, 8u}) {
    people few;
    few.members = members;
    few.contributors = few.apart = 0;
    auto x = choose(few);
    CHECK(x.way == averaging_way::one_group);
    CHECK(x.compared);
    CHECK(x.why == std::to_string(members) + " trainers fit into a group of 8");
  }
}

TEST_CASE(
    "a crowd that could be dialled goes on two levels, whatever they take") {
  people crowd;
  crowd.contributors = 500;
  crowd.apart = 0;
  auto x = choose(crowd);
  CHECK(x.way == averaging_way::two_levels);
  CHECK(x.compared);
  CHECK(x.two_levels_seconds > 10 * x.one_group_seconds);
  CHECK(says(x, "500 trainers beyond a group of 8 contribute through its 8 "
                "members"));
  CHECK(says(x, "it is a matter of size"));
}

TEST_CASE("half of 240 behind NAT, with symmetric lines, redraw their groups") {
  auto x = choose({});
  CHECK(x.way == averaging_way::moshpit);
  CHECK(x.compared);
  // By hand, in transfers of a gradient of 40 MB over 20 Mbit/s: 29 gathered, 2
  // less a quarter in the group, 15 sent back to those in no chain and 1 to a
  // chain.
  const auto transfer = 40e6 / (20 * mbit);
  CHECK(x.two_levels_seconds
        == doctest::Approx((29 + 1.75 + 16) * transfer).epsilon(0.02));
  // Eight, of whom four average: each sends 3/4 of its own and 7 means of a
  // quarter, of twice the gradient; and what repairs the lost steps.
  const auto n = 240.0, hidden = 120.0;
  CHECK(x.lost
        == doctest::Approx((hidden * 0.45 + (n - hidden) * 0.07) / n)
               .epsilon(0.02));
  CHECK(x.moshpit_seconds
        == doctest::Approx(moshpit_is_slower
                           * (5 + x.lost * n * 3 / (n - hidden)) * transfer)
               .epsilon(0.02));
  CHECK(x.exact_step_seconds > moshpit_is_worth * x.moshpit_step_seconds);
  CHECK(says(x, "a step instead of"));
}

TEST_CASE("half of 60 behind NAT stay exact: redrawn groups lose too much") {
  people fewer;
  fewer.contributors = 52;
  fewer.apart = 30;
  auto x = choose(fewer);
  CHECK(x.way == averaging_way::two_levels);
  CHECK(x.moshpit_seconds > 0);
  // Where fewer of as many are behind NAT, and groups are smaller, they do not.
  fewer.members = 4;
  fewer.contributors = 56;
  fewer.apart = 15;
  CHECK(choose_averaging(contract_of(fewer), 4, "").way
        == averaging_way::moshpit);
}

TEST_CASE("with the lines of most homes the same crowd stays exact") {
  people homes;
  homes.download = 4 * homes.upload;
  auto x = choose(homes);
  CHECK(x.way == averaging_way::two_levels);
  CHECK(x.moshpit_seconds > 0);
  CHECK(says(x, "not worth giving up equal parameters"));
}

TEST_CASE("where contributors' lines are thin, nothing is gained") {
  people thin;
  thin.apart_upload = thin.apart_download = thin.upload / 10;
  CHECK(choose(thin).way == averaging_way::two_levels);
}

TEST_CASE("where computing takes most of the time, nothing is gained") {
  people slow;
  slow.samples_per_second = 5;
  auto x = choose(slow);
  CHECK(x.way == averaging_way::two_levels);
  CHECK(x.exact_step_seconds > 800);
}

TEST_CASE("those who would all draw one group stay exact") {
  people homes;
  homes.members = 13;
  homes.contributors = homes.apart = 13;
  auto x = choose_averaging(contract_of(homes), 64, "");
  CHECK(x.way == averaging_way::two_levels);
  CHECK(x.compared);
  CHECK(says(x, "that others cannot connect to"));
  CHECK(says(x, "one and the same"));
}

TEST_CASE("settings that do not go with redrawn groups are never turned") {
  auto x = choose({}, "packing is int8");
  CHECK(x.way == averaging_way::two_levels);
  CHECK(x.compared);
  CHECK(says(x, "but packing is int8"));
}

TEST_CASE("a lying minority turns nothing, either way") {
  constexpr double huge = 1e18;
  auto spoil = [](group_contract c, const group_member& lie) {
    for (std::size_t i = 0; i < 3; ++i) {
      auto id = c.members[i].who;
      auto samples = c.members[i].samples;
      c.members[i] = lie;
      c.members[i].who = id;
      c.members[i].samples = samples;
    }
    return choose_averaging(c, group_size, "");
  };
  group_member many;
  many.upload_bytes_per_second = many.download_bytes_per_second = 1;
  many.cell = {huge, 65536, 65536, huge, huge};
  group_member none;
  none.upload_bytes_per_second = none.download_bytes_per_second = huge;
  none.cell = {1e-9, 0, 0, 0, 0};
  people open;
  open.apart = 0;
  people homes;
  homes.download = 4 * homes.upload;
  for (auto& lie : {many, none}) {
    CHECK(spoil(contract_of(open), lie).way == averaging_way::two_levels);
    CHECK(spoil(contract_of(homes), lie).way == averaging_way::two_levels);
    CHECK(spoil(contract_of({}), lie).way == averaging_way::moshpit);
  }
}

TEST_CASE("without figures nothing is compared, and nothing is turned") {
  const auto infinity = std::numeric_limits<double>::infinity();
  for (double bad : {0.0, -1.0, infinity, std::nan("")}) {
    auto c = contract_of({});
    SUBCASE("lines") {
      for (auto& m : c.members)
        m.upload_bytes_per_second = m.download_bytes_per_second = bad;
    }
    SUBCASE("speeds") {
      for (auto& m : c.members)
        m.cell.samples_per_second = bad;
    }
    auto x = choose_averaging(c, group_size, "");
    CHECK(x.way == averaging_way::two_levels);
    CHECK_FALSE(x.compared);
  }
  // Of most there must be some.
  auto c = contract_of({});
  for (std::size_t i = 0; i < 4; ++i)
    c.members[i].upload_bytes_per_second = 0;
  CHECK_FALSE(choose_averaging(c, group_size, "").compared);
  c.members[0].upload_bytes_per_second = 20 * mbit;
  CHECK(choose_averaging(c, group_size, "").way == averaging_way::moshpit);
}

TEST_CASE("a single member does not decide for its contributors") {
  people one;
  one.members = 1;
  one.contributors = 40;
  one.apart = 20;
  auto x = choose_averaging(contract_of(one), 2, "");
  CHECK(x.way == averaging_way::two_levels);
  CHECK_FALSE(x.compared);
  one.members = 2;
  CHECK(choose_averaging(contract_of(one), 2, "").compared);
}

TEST_CASE("auxiliaries, and a contract of nobody, are no trainers") {
  auto c = contract_of({});
  auto extra = c.members.front();
  extra.role = role::auxiliary;
  extra.samples = 0;
  extra.upload_bytes_per_second = 1;
  for (std::uint8_t i = 100; i < 130; ++i) {
    extra.who = contact_of(i);
    c.members.push_back(extra);
  }
  CHECK(choose_averaging(c, group_size, "").why
        == choose_averaging(contract_of({}), group_size, "").why);
  CHECK(choose_averaging({}, group_size, "").way == averaging_way::one_group);
}
