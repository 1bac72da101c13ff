/// The smaller classes that a round is made of, each alone.
#include <algorithm>

#include <doctest/doctest.h>

#include "runtime/averaging/round/mean_shelf.hpp"
#include "runtime/averaging/round/member_watch.hpp"
#include "runtime/averaging/round/other_rounds.hpp"
#include "runtime/averaging/round/part_source.hpp"
#include "runtime/averaging/round/round_faults.hpp"
#include "runtime/packing/packing.hpp"
#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{100s};

std::shared_ptr<std::vector<float>> counting(std::size_t values) {
  auto result = std::make_shared<std::vector<float>>(values);
  for (std::size_t i = 0; i < values; ++i)
    (*result)[i] = static_cast<float>(i);
  return result;
}

template <class Order>
std::vector<Order> all_of(const round_orders& orders) {
  std::vector<Order> result;
  for (auto& x : orders)
    if (auto y = std::get_if<Order>(&x))
      result.push_back(*y);
  return result;
}

group_id group_number(std::uint8_t number) {
  group_id result;
  result.bytes[0] = number;
  return result;
}

std::shared_ptr<awaited_group> awaiting(std::uint8_t number) {
  auto result = std::make_shared<awaited_group>();
  result->set(group_number(number));
  return result;
}

} // namespace

TEST_CASE("parts go out to one owner after the other, our own among them") {
  part_source x{chunk_map{7, 1, {2, 3, 2}}, 1, {}, packing::float32};
  CHECK_FALSE(x.any());
  CHECK(x.lend(counting(7), 0).empty()); // Nothing to bring in.
  using debts = std::vector<part_source::debt>;
  CHECK(x.lend(counting(7), 4)
        == debts{{5, 2}, {0, 0}, {2, 1}, {6, 2}, {1, 0}, {3, 1}, {4, 1}});
  auto [head, body] = x.outgoing(5);
  CHECK(head.chunk == 5);
  CHECK(head.samples == 4);
  CHECK(*reinterpret_cast<const float*>(body.data) == 5);
}

TEST_CASE("what is owed before the gradient is here follows with it") {
  part_source x{chunk_map{2, 1, {1, 1}}, 0, {}, packing::float32};
  x.owe(1, 0);
  using debts = std::vector<part_source::debt>;
  CHECK(x.lend(counting(2), 1) == debts{{1, 1}, {0, 0}, {1, 0}});
  CHECK(x.lend(counting(2), 1) == debts{{1, 1}, {0, 0}}); // Once.
}

TEST_CASE("members pack as the plan says, but not what they sum themselves") {
  part_source x{chunk_map{4, 2, {1, 1}},
                0,
                {packing::int8, packing::float16},
                packing::float32};
  x.lend(counting(4), 1);
  CHECK(x.packing_of(1) == packing::float16);
  CHECK(x.packing_of(0) == packing::int8);
  CHECK(x.outgoing(1).first.packing == packing::int8);
  CHECK(x.outgoing(0).first.packing == packing::float32);
  CHECK(x.whole(1).first.packing == packing::float32);
}

TEST_CASE("a shelf keeps what others get: its floats, its bytes, its seal") {
  value_pool rooms{100};
  mean_shelf x;
  CHECK(x.values(3).size == 0);
  CHECK(x.seal(3).empty());
  auto values = std::vector<float>{1.01f, -127, 3};
  x.keep_packed(3, packing::int8, values, {mean_number(1)}, rooms);
  x.keep(4, counting(2), {});
  CHECK(x.chunks() == std::vector<std::uint32_t>{3, 4});
  CHECK(x.packed(4).size == 0);
  std::vector<float> read(3);
  auto packed = x.packed(3);
  REQUIRE(unpack(packing::int8, packed.data, packed.size, read.data(), 3));
  auto kept = x.values(3);
  REQUIRE(kept.size == 12);
  CHECK(std::equal(read.begin(), read.end(),
                   reinterpret_cast<const float*>(kept.data)));
  CHECK_FALSE(x.seal(3).empty());
  REQUIRE(x.parts(3));
  CHECK(x.parts(3)->size() == 1);
  x.drop(3);
  CHECK(x.values(3).size == 0);
  CHECK(x.parts(3)); // It was made here all the same.
  x.note_seal(9, mean_number(7));
  CHECK(x.seal(9) == mean_number(7));
}

TEST_CASE("a leader that only calls the round off has said nothing") {
  member_roll roll{contract_of({4, 0}), peer(3)};
  const chunk_map own{4, 1, {1, 1, 1, 1}};
  member_watch x{4, start};
  for (std::size_t i = 0; i < 3; ++i)
    x.joined(i);
  round_verdict off;
  x.heard(0, off, false);
  auto report = [&](const chunk_map& map) {
    bulk_watch owed{contract_of({4, 0}),
                    map,
                    direct_lines{contract_of({4, 0})},
                    3,
                    0,
                    start};
    for (std::size_t i : {1, 2})
      owed.part_came(i, 3, start);
    round_outcome news;
    x.report(news, roll, owed, 5s);
    return news;
  };
  CHECK_FALSE(report(own).watched); // It has not waited for long.
  x.at(start + 5s);
  CHECK(report(own).taken == 5s);
  // Without a chunk it need not have heard of them.
  CHECK_FALSE(report({4, 1, {2, 1, 1, 0}}).watched);
  CHECK(report(own).watched);
  CHECK(report(own).silent == std::vector<std::size_t>{0});
  x.left(0);
  CHECK(report(own).silent.empty());
}

TEST_CASE("who brings nothing is silent when it does not say where it stands") {
  auto contract = contract_of({3, 0});
  contract.members[1].samples = contract.members[2].samples = 0;
  member_roll roll{contract, peer(0)};
  member_watch x{3, start};
  x.joined(1);
  x.joined(2);
  auto silent = [&] {
    round_outcome news;
    const bulk_watch owed{
        contract, {3, 1, {1, 1, 1}}, direct_lines{contract}, 0, 0, start};
    x.report(news, roll, owed, 5s);
    return news.silent;
  };
  x.at(start + 5s);
  x.lose_patience(false);
  CHECK(silent().empty()); // It may wait for others as this one does.
  x.heard(1, round_standing{}, true);
  x.at(start + 10s);
  x.lose_patience(true);
  CHECK(silent() == std::vector<std::size_t>{2});
}

TEST_CASE("what a member says is not the part that it owes") {
  auto contract = contract_of({4, 0});
  contract.members[3].relayed = {peer(0)}; // By a hub alone.
  member_roll roll{contract, peer(0)};
  const direct_lines lines{contract};
  member_watch x{4, start};
  for (std::size_t i : {1, 2, 3}) {
    x.joined(i);
    x.heard(i, round_prepared{}, false);
  }
  x.heard_bulk(1);
  x.at(start + 5s);
  auto silent = [&](const chunk_map& map) {
    bulk_watch owed{contract, map, lines, 0, 0, start};
    owed.part_came(2, 0, start);
    round_outcome news;
    x.report(news, roll, owed, 5s);
    return news.silent;
  };
  CHECK(silent({4, 1, {1, 1, 1, 1}}) == std::vector<std::size_t>{1});
  CHECK(silent({4, 1, {0, 2, 1, 1}}).empty()); // Others are owed it.
}

TEST_CASE("those that ask around while they wait are no news") {
  member_watch x{2, start};
  x.at(start + 3s);
  x.heard(1, round_standing{}, false);
  CHECK(x.quiet_since({}) == 3s);
  CHECK(x.quiet_since(start + 1s) == 2s);
  x.heard(1, round_standing{}, true); // It answers our question.
  CHECK(x.quiet_since({}) == 0s);
  x.at(start + 4s);
  CHECK(x.quiet_since({}) == 1s);
  CHECK(x.age() == 4s);
}

TEST_CASE("one that says the same again and again is no news") {
  member_watch x{3, start};
  x.heard(1, round_prepared{}, false);
  x.at(start + 3s);
  x.heard(1, round_prepared{}, false);
  x.heard(1, mean_request{}, false);
  x.heard(1, chunk_part{}, false); // It may be in no sum.
  CHECK(x.quiet_since({}) == 3s);
  x.heard(2, round_prepared{}, false);
  CHECK(x.quiet_since({}) == 0s);
  SUBCASE("until this one loses patience") {
    x.lose_patience(false);
  }
  SUBCASE("until this one asks") {
    x.asks();
  }
  x.at(start + 4s);
  x.heard(1, round_prepared{}, false);
  CHECK(x.quiet_since({}) == 0s);
}

TEST_CASE("who has others ask again and again does not hold them for ever") {
  member_watch x{3, start};
  std::size_t news = 0;
  for (int i = 1; i < 100; ++i) {
    x.at(start + i * 1s);
    x.asks();
    news += x.quiet_since({}) == 0s;
  }
  CHECK(news > 3);
  CHECK(news < 20);
}

TEST_CASE("the last of several trainers is not taken for lost at once") {
  member_roll roll{contract_of({3, 1}), peer(0)};
  member_watch x{4, start};
  x.joined(2);
  CHECK_FALSE(x.cut_off_without(1, roll)); // The third one is there.
  x.left(2);
  CHECK(x.cut_off_without(2, roll));
  CHECK_FALSE(x.cut_off_without(3, roll)); // An auxiliary.
  member_roll pair{contract_of({2, 0}), peer(0)};
  CHECK_FALSE(member_watch(2, start).cut_off_without(1, pair));
}

TEST_CASE("most reducers' refusals are proof, and one's is none") {
  round_faults x{chunk_map{4, 1, {1, 1, 1, 1}}, 3, contract_of({4, 0})};
  CHECK(x.refused(0, 1).empty());
  CHECK(x.refused(0, 1).empty()); // The same once more.
  auto proof = all_of<member_accused>(x.refused(0, 2));
  REQUIRE(proof.size() == 1);
  CHECK(proof[0].member == 0);
  CHECK(proof[0].by_majority);
  CHECK(proof[0].why.find("2 of 3") != std::string::npos);
  CHECK(x.refused(9, 1).empty()); // Nobody.
  auto ours = all_of<round_fault>(x.refused(3, 1));
  REQUIRE(ours.size() == 1);
  CHECK(ours[0].what == "refused our part");
}

TEST_CASE("most reducers prove nothing where most of them are auxiliaries") {
  // Of three trainers two average; the other five are auxiliaries.
  round_faults many{chunk_map{8, 1, {1, 1, 1, 1, 1, 1, 1, 1}}, 0,
                    contract_of({3, 5})};
  for (std::size_t i = 3; i < 8; ++i)
    CHECK(many.refused(1, i).empty());
  CHECK(many.refused(1, 0).empty());
  CHECK(all_of<member_accused>(many.refused(1, 2)).size() == 1);
  // Nobody but auxiliaries averages: one word is against another.
  round_faults alone{chunk_map{3, 1, {0, 0, 1, 1, 1}}, 0, contract_of({2, 3})};
  CHECK(alone.refused(1, 2).empty());
  const auto doubt = all_of<members_in_doubt>(alone.refused(1, 3));
  REQUIRE(doubt.size() == 1);
  CHECK(doubt[0].members == std::vector<std::size_t>{1, 2, 3});
  CHECK(alone.refused(1, 4).empty()); // Said once.
}

TEST_CASE("bad data is the member's fault, and a bad mean ends its session") {
  round_faults x{chunk_map{2, 1, {1, 1}}, 0, contract_of({2, 0})};
  CHECK(all_of<member_accused>(x.blame(1, "a NaN")).size() == 1);
  CHECK(all_of<member_accused>(x.blame(0, "a NaN")).empty()); // Our own.
  CHECK(all_of<member_dropped>(x.blame(1, "a NaN")).empty());
  CHECK(all_of<member_dropped>(x.blame_for_mean(1, "a NaN")).size() == 1);
}

TEST_CASE("letters of a round that is not begun wait for it") {
  const auto awaited = awaiting(2);
  other_rounds x{awaited};
  mean_request of_two;
  of_two.group = group_number(2);
  CHECK_FALSE(x.read({peer(0), of_two, {}}));
  auto of_three = of_two;
  of_three.group = group_number(3);
  CHECK_FALSE(x.read({peer(1), of_two, {}}));
  awaited->set(of_three.group);
  CHECK_FALSE(x.read({peer(0), of_three, {}}));
  x.forget(peer(1));
  auto came = x.begin(of_two.group);
  REQUIRE(came.size() == 1);
  CHECK(came[0].from == peer(0));
  CHECK(x.begin(of_three.group).empty()); // The round before it was begun.
}

TEST_CASE("letters for rounds that nobody invited this peer to are not kept") {
  other_rounds x{awaiting(2)};
  mean_request junk;
  junk.group = group_number(9);
  CHECK_FALSE(x.read({peer(1), junk, {}}));
  CHECK(x.begin(junk.group).empty());
  other_rounds idle;
  junk.group = {};
  CHECK_FALSE(idle.read({peer(1), junk, {}}));
  CHECK(idle.begin(junk.group).empty());
}

TEST_CASE("who floods a round before it begins crowds nobody else out") {
  other_rounds x{awaiting(2)};
  mean_request one;
  one.group = group_number(2);
  x.read({peer(0), one, {}});
  constexpr auto room = limits::early_bytes / limits::least_early_bytes;
  for (std::size_t i = 0; i < 2 * room; ++i)
    x.read({peer(1), one, {}});
  x.read({peer(2), one, {}});
  const auto kept = x.begin(one.group);
  CHECK(kept.size() == room);
  for (std::uint8_t who : {0, 2})
    CHECK(std::any_of(kept.begin(), kept.end(),
                      [&](auto& y) { return y.from == peer(who); }));
}

TEST_CASE("a letter that waits counts with all that its head names") {
  other_rounds x{awaiting(2)};
  round_standing long_one;
  long_one.group = group_number(2);
  long_one.chunks.resize(65'000);
  const auto bytes = long_one.chunks.size() * sizeof(chunk_standing);
  for (std::size_t i = 0; i < 2 * limits::early_bytes / bytes; ++i)
    x.read({peer(1), long_one, {}});
  CHECK(x.begin(long_one.group).size() * bytes <= limits::early_bytes);
}

TEST_CASE("members of a round that this peer is out of are told so once") {
  other_rounds x{awaiting(2)};
  mean_request early;
  early.group = group_number(2);
  x.read({peer(0), early, {}});
  auto told = x.stay_out(early.group);
  REQUIRE(told.size() == 1);
  CHECK(told[0].first == peer(0));
  CHECK_FALSE(x.read({peer(0), early, {}}));
  CHECK(x.read({peer(1), early, {}}));
  CHECK_FALSE(x.read({peer(1), early, {}}));
  auto left = x.leave(group_number(3), {peer(0), peer(1)});
  CHECK(left.size() == 2);
  early.group = group_number(3);
  CHECK_FALSE(x.read({peer(1), early, {}}));
}

TEST_CASE("who settles a round that was given up hears that it was") {
  other_rounds x;
  round_settle question;
  question.group = group_number(2);
  question.epoch = 5;
  x.aborted(question.group);
  auto answer = x.read({peer(2), question, {}});
  REQUIRE(answer);
  auto& told = std::get<round_standing>(*answer);
  CHECK(told.group == question.group);
  CHECK(told.epoch == 5);
  CHECK(told.standing == standing::aborted);
  CHECK_FALSE(x.read(
      {peer(2), round_verdict{question.group, 5, false, {}, {}, 0, 0}, {}}));
}
