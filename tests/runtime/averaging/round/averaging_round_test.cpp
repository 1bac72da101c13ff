#include <doctest/doctest.h>

#include <cstring>
#include <deque>
#include <functional>
#include <limits>

#include "runtime/averaging/round/averaging_round.hpp"
#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;
using namespace std::chrono_literals;

namespace {

template <class Order>
std::vector<Order> all_of(const round_orders& orders) {
  std::vector<Order> result;
  for (auto& x : orders)
    if (auto y = std::get_if<Order>(&x))
      result.push_back(*y);
  return result;
}

template <class Content>
std::vector<std::size_t> receivers(const round_orders& orders) {
  std::vector<std::size_t> result;
  for (auto& x : all_of<round_mail>(orders))
    if (std::holds_alternative<Content>(x.content))
      result.push_back(x.to);
  return result;
}

shared_bytes bytes_of(float value) {
  auto owner = std::make_shared<float>(value);
  return {owner, reinterpret_cast<const std::uint8_t*>(owner.get()),
          sizeof(float)};
}

/// Member 0 of three trainers, each of whom averages a chunk of one value.
struct first_of_three {
  first_of_three() {
    what.contract = contract_of(setting);
    what.contract.patience_ms = 2000;
    what.plan.chunks = {1, 1, 1};
    what.self = peer(0);
    it.emplace(
        what, value_pool{10}, intake, [this] { ++placed; }, chance,
        time_point{1s});
    for (std::size_t i : {1, 2})
      it->joined(peer(i));
  }
  round_orders lend() {
    return it->lend(std::make_shared<std::vector<float>>(3, 1.0f));
  }
  chunk_part part() const {
    chunk_part result;
    result.group = what.contract.group;
    result.samples = 1;
    return result;
  }
  chunk_mean mean_of(std::uint32_t chunk) const {
    chunk_mean result;
    result.group = what.contract.group;
    result.chunk = chunk;
    result.samples = 3;
    result.seal = mean_number(8);
    return result;
  }

  const round_setting setting{3, 0, {1, 1, 1}};
  round_terms what;
  std::shared_ptr<round_intake> intake = std::make_shared<round_intake>(1);
  random_stream chance{1};
  int placed = 0;
  std::optional<averaging_round> it;
};

} // namespace

TEST_CASE("a gradient goes to its chunks' owners, our own among them") {
  first_of_three x;
  auto sent = x.lend();
  CHECK(receivers<chunk_part>(sent) == std::vector<std::size_t>{1, 2});
  auto own = all_of<offer_part>(sent);
  REQUIRE(own.size() == 1);
  CHECK(own[0].member == 0);
  CHECK(own[0].head.chunk == 0);
}

TEST_CASE("what a heal asks for before the gradient is here follows with it") {
  first_of_three x;
  x.it->lost(peer(2));
  round_settle asked{x.what.contract.group, 1};
  x.it->receive(peer(1), asked, {});
  round_heal heal{x.what.contract.group, 1, {0, 1}, {{0, 3}, {1, 3}, {1, 3}}};
  auto todo = x.it->receive(peer(1), heal, {});
  CHECK(receivers<chunk_part>(todo).empty());
  CHECK(all_of<offer_part>(todo).empty());
  auto sent = x.lend();
  // Chunk 2 was planned elsewhere, and is the second's now, too.
  CHECK(receivers<chunk_part>(sent) == std::vector<std::size_t>{1, 2, 1});
  CHECK(all_of<offer_part>(sent).size() == 1);
}

TEST_CASE("a part is offered to its reducer, and to nobody when that is done") {
  first_of_three x;
  auto offered = x.it->receive(peer(1), x.part(), bytes_of(1));
  REQUIRE(all_of<offer_part>(offered).size() == 1);
  CHECK(all_of<offer_part>(offered)[0].member == 1);
  x.it->averaged(0, std::make_shared<std::vector<float>>(1, 1.0f), {}, {});
  CHECK(x.it->receive(peer(2), x.part(), bytes_of(1)).empty());
}

TEST_CASE("means in their places are counted when all are there") {
  first_of_three x;
  auto mean = std::make_shared<std::vector<float>>(1, 5.0f);
  auto out = x.it->averaged(0, mean, {}, {mean_number(1)});
  CHECK(receivers<chunk_mean>(out) == std::vector<std::size_t>{1, 2});
  for (std::uint32_t chunk : {1, 2})
    CHECK(x.intake->take(peer(chunk), x.mean_of(chunk), bytes_of(7),
                         time_point{2s}));
  CHECK(x.placed == 1);
  CHECK_FALSE(x.it->agreement().ledger().complete());
  x.it->means_placed();
  CHECK(x.it->agreement().standing() == standing::prepared);
  CHECK(*x.it->bulk().places().whole() == std::vector<float>{5, 7, 7});
}

TEST_CASE("a mean that is the last, but came by letter, counts the others") {
  first_of_three x;
  x.it->averaged(0, std::make_shared<std::vector<float>>(1, 5.0f), {}, {});
  CHECK(x.intake->take(peer(1), x.mean_of(1), bytes_of(7), time_point{2s}));
  x.it->receive(peer(2), x.mean_of(2), bytes_of(7));
  CHECK(x.placed == 0);
  CHECK(x.it->agreement().standing() == standing::prepared);
}

TEST_CASE("a settle finds what is in sums and places, and closes them") {
  first_of_three x;
  CHECK(x.intake->take(peer(1), x.mean_of(1), bytes_of(7), time_point{2s}));
  round_settle asked{x.what.contract.group, 1};
  auto answer = x.it->receive(peer(1), asked, {});
  REQUIRE(receivers<round_standing>(answer) == std::vector<std::size_t>{1});
  const auto mail = all_of<round_mail>(answer);
  const auto& told = std::get<round_standing>(mail[0].content);
  CHECK(told.chunks[1] == chunk_standing{1, 3});
  CHECK_FALSE(
      x.intake->take(peer(2), x.mean_of(2), bytes_of(7), time_point{3s}));
}

TEST_CASE("a mean that does not add up ends its sender's session") {
  first_of_three x;
  auto wrong = x.mean_of(1);
  SUBCASE("by its samples") {
    wrong.samples = 2;
  }
  SUBCASE("by its missing seal") {
    wrong.seal = {};
  }
  SUBCASE("in its place") {
    wrong.samples = 2;
    CHECK(x.intake->take(peer(1), wrong, bytes_of(7), time_point{2s}));
    auto out = x.it->receive(peer(2), x.mean_of(2), bytes_of(7));
    CHECK(all_of<member_dropped>(out).size() == 1);
    return;
  }
  auto out = x.it->receive(peer(1), wrong, bytes_of(7));
  REQUIRE(all_of<member_dropped>(out).size() == 1);
  CHECK(all_of<member_dropped>(out)[0].member == 1);
}

TEST_CASE("a chunk whose reducer has ended is begun anew, once") {
  first_of_three x;
  x.lend();
  auto again = x.it->reducer_lost(0);
  REQUIRE(again);
  CHECK(all_of<offer_part>(*again).size() == 1);
  CHECK(receivers<part_request>(*again) == std::vector<std::size_t>{1, 2});
  CHECK_FALSE(x.it->reducer_lost(0));
  CHECK(x.it->reducer_lost(1)); // Of another one, which a heal moved here.
}

TEST_CASE("the successor of a heal's reducer does without the same members") {
  first_of_three x;
  x.lend();
  x.it->lost(peer(2));
  x.it->receive(peer(1), round_settle{x.what.contract.group, 1}, {});
  round_heal heal{x.what.contract.group, 1, {0, 1}, {{0, 3}, {0, 3}, {0, 3}}};
  x.it->receive(peer(1), heal, {});
  auto again = x.it->reducer_lost(1);
  REQUIRE(again);
  REQUIRE(all_of<do_without>(*again).size() == 1);
  CHECK(all_of<do_without>(*again)[0].members == std::vector<std::uint8_t>{2});
  CHECK(receivers<part_request>(*again) == std::vector<std::size_t>{1});
}

TEST_CASE("when patience ends, the leader asks where all stand") {
  first_of_three x;
  x.it->at(time_point{4s});
  CHECK(x.it->quiet() == 3s);
  CHECK(receivers<round_settle>(x.it->patience_over())
        == std::vector<std::size_t>{1, 2});
  CHECK(x.it->quiet() == 0s);
}

TEST_CASE("no part and no mean goes to a member without a line to this one, "
          "whoever asks for it") {
  first_of_three x;
  x.what.contract.members[2].relayed = {peer(0)};
  x.it.emplace(
      x.what, value_pool{10}, x.intake, [] {}, x.chance, time_point{1s});
  for (std::size_t i : {1, 2})
    x.it->joined(peer(i));
  CHECK(receivers<chunk_part>(x.lend()) == std::vector<std::size_t>{1});
  auto mean = std::make_shared<std::vector<float>>(1, 5.0f);
  CHECK(receivers<chunk_mean>(x.it->averaged(0, mean, {}, {mean_number(1)}))
        == std::vector<std::size_t>{1});
  const auto& group = x.what.contract.group;
  CHECK(x.it->receive(peer(2), mean_request{group, 0, 1}, {}).empty());
  CHECK(receivers<chunk_mean>(
            x.it->receive(peer(1), mean_request{group, 0, 1}, {}))
        == std::vector<std::size_t>{1});
  auto shown = x.it->receive(peer(2), part_request{group, 2}, {});
  CHECK(receivers<chunk_part>(shown).empty());
  CHECK(receivers<round_settle>(x.it->patience_over())
        == std::vector<std::size_t>{1, 2}); // Letters do.
}

TEST_CASE("a round with a hub in the middle moves values to and from it only") {
  round_setting setting{3, 1, {0, 0, 0, 3}};
  auto contract = contract_of(setting);
  contract.patience_ms = 2000;
  for (auto i : {0, 1, 2})
    contract.members[i].relayed = {peer(i)}; // To no trainer.
  std::deque<averaging_round> all;
  std::vector<std::shared_ptr<round_intake>> intakes;
  random_stream chance{1};
  for (std::size_t i = 0; i < 4; ++i) {
    round_terms what;
    what.contract = contract;
    what.plan.chunks = {0, 0, 0, 3};
    what.self = peer(i);
    intakes.push_back(std::make_shared<round_intake>(1u << 20));
    all.emplace_back(
        what, value_pool{30}, intakes.back(), [] {}, chance, time_point{1s});
    for (std::size_t j = 0; j < 4; ++j)
      if (j != i)
        all.back().joined(peer(j));
  }
  std::vector<std::pair<std::size_t, round_mail>> post;
  std::vector<float> sums(3, 0);
  std::vector<int> parts(3, 0);
  std::size_t committed = 0;
  std::function<void(std::size_t, round_orders)> carry
      = [&](std::size_t by, round_orders orders) {
          for (auto& x : orders)
            if (auto mail = std::get_if<round_mail>(&x)) {
              if (mail->body.size != 0)
                CHECK((by == 3 || mail->to == 3));
              post.emplace_back(by, std::move(*mail));
            } else if (auto part = std::get_if<offer_part>(&x)) {
              REQUIRE(by == 3);
              float value = 0;
              std::memcpy(&value, part->body.data, sizeof(value));
              sums[part->head.chunk] += value;
              if (++parts[part->head.chunk] == 3)
                carry(by, all[3].averaged(part->head.chunk,
                                          std::make_shared<std::vector<float>>(
                                              1, sums[part->head.chunk] / 3),
                                          {}, {mean_number(1)}));
            } else if (auto out = std::get_if<round_outcome>(&x)) {
              committed += out->committed;
            }
        };
  for (std::size_t i = 0; i < 3; ++i)
    carry(i, all[i].lend(std::make_shared<std::vector<float>>(
                 3, static_cast<float>(i + 1))));
  for (std::size_t next = 0; next < post.size(); ++next) {
    auto [by, mail] = post[next];
    carry(mail.to, all[mail.to].receive(peer(by), mail.content, mail.body));
  }
  CHECK(committed == 4);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(*all[i].bulk().places().whole() == std::vector<float>{2, 2, 2});
}

namespace {

struct lone_member {
  explicit lone_member(averaging_rule rule = {}, std::size_t values = 3) {
    what.contract = contract_of(round_setting{1, 0, {3}});
    what.contract.gradient_values = values;
    what.contract.members[0].samples = 5;
    what.plan.chunks = {static_cast<std::uint32_t>(values)};
    what.self = peer(0);
    what.rule = rule;
    it.emplace(
        what, value_pool{10}, std::make_shared<round_intake>(1), [] {}, chance,
        time_point{1s});
  }

  round_terms what;
  random_stream chance{1};
  std::optional<averaging_round> it;
};

} // namespace

TEST_CASE("a member alone has its mean at once, and keeps no gradient") {
  lone_member x;
  CHECK(x.it->what().alone());
  auto gradient
      = std::make_shared<std::vector<float>>(std::vector<float>{10, -1, 0});
  const auto orders = x.it->lend(gradient);
  CHECK(gradient.use_count() == 1);
  CHECK(all_of<offer_part>(orders).empty());
  CHECK(all_of<round_mail>(orders).empty());
  const auto outcomes = all_of<round_outcome>(orders);
  REQUIRE(outcomes.size() == 1);
  CHECK(outcomes[0].committed);
  CHECK(outcomes[0].samples == 5);
  CHECK(outcomes[0].left_out.empty());
  CHECK(*outcomes[0].mean == std::vector<float>{10 * 0.2f, -1 * 0.2f, 0});
  CHECK(x.it->over());
}

TEST_CASE("a gradient that no mean can hold has none, alone either") {
  lone_member x;
  auto gradient = std::make_shared<std::vector<float>>(3, 1.0f);
  gradient->back() = std::numeric_limits<float>::infinity();
  const auto orders = x.it->lend(gradient);
  CHECK(all_of<round_outcome>(orders).empty());
  CHECK(all_of<offer_part>(orders).size() == 3); // Their reducers refuse one.
}

TEST_CASE("a bound on parts holds for a member alone, too") {
  averaging_rule rule;
  rule.part_norm = 1;
  CHECK_FALSE(lone_member{rule}.it->what().alone());
  averaging_rule median;
  median.how = aggregator::median;
  CHECK_FALSE(lone_member{median}.it->what().alone());
}

namespace {

/// A round of three that one of them calls off, as another one sees it.
struct called_off {
  std::shared_ptr<call_offs> known = std::make_shared<call_offs>();
  time_point now{1s};

  /// @param to Member, @param by who calls off, @param after so much time.
  std::vector<members_in_doubt> round(std::size_t to, std::size_t by,
                                      duration after, bool all_here = true) {
    const round_setting setting{3, 0, {1, 1, 1}};
    round_terms what;
    what.contract = contract_of(setting);
    what.contract.patience_ms = 2000;
    what.plan.chunks = {1, 1, 1};
    what.self = peer(to);
    what.call_offs = known;
    random_stream chance{1};
    now += 1s;
    averaging_round it{what,  value_pool{10}, std::make_shared<round_intake>(1),
                       [] {}, chance,         now};
    for (std::size_t i = 0; i < 3; ++i)
      if (i != to && (all_here || i == by))
        it.joined(peer(i));
    it.lend(std::make_shared<std::vector<float>>(3, 1.0f));
    now += after;
    it.at(now);
    const auto epoch = static_cast<std::uint32_t>(by);
    round_orders all;
    if (by != 0)
      all = it.receive(peer(by), round_settle{what.contract.group, epoch}, {});
    round_verdict off;
    off.group = what.contract.group;
    off.epoch = epoch;
    auto more = it.receive(peer(by), off, {});
    CHECK(it.agreement().standing() == standing::aborted);
    all.insert(all.end(), more.begin(), more.end());
    return all_of<members_in_doubt>(all);
  }
};

} // namespace

TEST_CASE("who calls rounds off again and again, and nothing is wrong with "
          "them, is doubted") {
  for (std::size_t by : {0, 2}) {
    CAPTURE(by);
    called_off x;
    for (std::size_t i = 0; i < limits::call_offs_excused; ++i)
      CHECK(x.round(1, by, 100ms).empty());
    const auto doubts = x.round(1, by, 100ms);
    REQUIRE(doubts.size() == 1);
    CHECK(doubts[0].members == std::vector<std::size_t>{by});
  }
}

TEST_CASE("a member that asks for a mean again and again gets it some times") {
  first_of_three x;
  x.it->averaged(0, std::make_shared<std::vector<float>>(1, 5.0f), {}, {});
  std::size_t sent = 0;
  for (int i = 0; i < 1000; ++i)
    sent += receivers<chunk_mean>(
                x.it->receive(peer(1),
                              mean_request{x.what.contract.group, 0, 1}, {}))
                .size();
  CHECK(sent >= 3);
  CHECK(sent < 20);
}

TEST_CASE("nobody heals a round in which all are well, to make means in their "
          "stead") {
  first_of_three x;
  x.lend();
  const round_heal heal{
      x.what.contract.group, 1, {0, 1, 2}, {{1, 3}, {1, 3}, {1, 3}}};
  const auto sent = x.it->receive(peer(1), heal, {});
  CHECK(receivers<chunk_part>(sent).empty());
  CHECK(receivers<mean_request>(sent).empty());
  CHECK(receivers<round_standing>(sent) == std::vector<std::size_t>{1});
  CHECK(x.it->agreement().standing() == standing::aborted);
}

TEST_CASE("nobody commits means of its own making while all are well") {
  first_of_three x;
  x.lend();
  const round_verdict made_up{
      x.what.contract.group, 1, true, mean_number(5), peer(1), 3, 3};
  const auto sent = x.it->receive(peer(1), made_up, {});
  CHECK(receivers<mean_request>(sent).empty());
  CHECK(x.it->agreement().standing() == standing::aborted);
  // Who was lost to others hears from them what counts.
  first_of_three lost;
  lost.lend();
  lost.it->lost(peer(2));
  CHECK_FALSE(
      receivers<mean_request>(lost.it->receive(peer(1), made_up, {})).empty());
}

TEST_CASE("nobody tells the leader of a commit that was never ruled") {
  first_of_three x;
  x.lend();
  round_standing lie;
  lie.group = x.what.contract.group;
  lie.standing = standing::committed;
  lie.mean = mean_number(5);
  lie.least_samples = lie.most_samples = 3;
  SUBCASE("by itself, ever") {
    x.it->at(time_point{1s} + 10s);
  }
  SUBCASE("by another, before one can have lost patience with it") {
    lie.epoch = 1;
  }
  CHECK(all_of<round_mail>(x.it->receive(peer(1), lie, {})).empty());
  CHECK(x.it->agreement().standing() == standing::incomplete);
}

TEST_CASE("parts of what another averages cost nothing before a question") {
  first_of_three x;
  x.lend();
  auto part = x.part();
  const std::vector<float> one{1};
  const shared_bytes body{nullptr,
                          reinterpret_cast<const std::uint8_t*>(one.data()), 4};
  CHECK(all_of<offer_part>(x.it->receive(peer(1), part, body)).size() == 1);
  part.chunk = 2;
  CHECK(all_of<offer_part>(x.it->receive(peer(1), part, body)).empty());
  x.it->lost(peer(2));
  CHECK(all_of<offer_part>(x.it->receive(peer(1), part, body)).size() == 1);
}

TEST_CASE("a heal that names members which do not exist changes nothing") {
  first_of_three x;
  x.lend();
  x.it->lost(peer(2));
  const round_heal heal{
      x.what.contract.group, 1, {0, 1, 200}, {{200, 3}, {200, 3}, {200, 3}}};
  for (const auto& order : all_of<round_mail>(x.it->receive(peer(1), heal, {})))
    CHECK(order.to < 3);
  CHECK_FALSE(x.it->over());
}

TEST_CASE("a round goes on without a member that gives it up, and names it") {
  first_of_three x;
  x.lend();
  round_standing gone;
  gone.group = x.what.contract.group;
  gone.standing = standing::aborted;
  // It asks at once; who has given up is not waited for.
  const auto asked = x.it->receive(peer(2), gone, {});
  CHECK(receivers<round_settle>(asked) == std::vector<std::size_t>{1, 2});
  round_standing there = gone;
  there.standing = standing::incomplete;
  there.chunks.resize(3);
  const auto ruled = x.it->receive(peer(1), there, {});
  const auto heals = all_of<round_mail>(ruled);
  REQUIRE_FALSE(heals.empty());
  const auto* heal = std::get_if<round_heal>(&heals.front().content);
  REQUIRE(heal);
  CHECK(heal->alive == std::vector<std::uint8_t>{0, 1});
  CHECK(x.it->receive(peer(2), gone, {}).empty());
  SUBCASE("but for its own end") {
    CHECK_FALSE(x.it->over());
  }
  SUBCASE("and ends when no majority is left") {
    x.it->receive(peer(1), gone, {}); // It asks once more, in epoch 3.
    gone.epoch = 3;
    const auto over = all_of<round_outcome>(x.it->receive(peer(1), gone, {}));
    CHECK(x.it->agreement().standing() == standing::aborted);
    REQUIRE(over.size() == 1);
    CHECK(over[0].silent == std::vector<std::size_t>{2});
  }
}

TEST_CASE("who gives a round up by another's ruling ends it") {
  first_of_three x;
  x.lend();
  round_standing gone;
  gone.group = x.what.contract.group;
  gone.epoch = 1;
  gone.standing = standing::aborted;
  x.it->receive(peer(2), gone, {});
  round_standing there = gone;
  there.epoch = 3;
  there.standing = standing::incomplete;
  there.chunks.resize(3);
  x.it->receive(peer(1), there, {}); // It settles above, in epoch 6.
  there.epoch = gone.epoch = 6;
  x.it->receive(peer(1), there, {});
  CHECK_FALSE(x.it->over());
  x.it->receive(peer(2), gone, {});
  CHECK(x.it->agreement().standing() == standing::aborted);
}

TEST_CASE("a round may be called off when somebody is lost, or patience, and "
          "now and then") {
  called_off lost, late, seldom;
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(lost.round(1, 0, 100ms, false).empty());
    CHECK(late.round(1, 0, 1900ms).empty());
    CHECK(late.round(0, 2, 3100ms).empty());
    CHECK(seldom.round(1, 0, 100ms).empty());
    for (int well = 0; well < 2; ++well)
      seldom.known->note({});
  }
}
