/// The leader's half and the follower's, each alone.

#include <doctest/doctest.h>

#include "runtime/matchmaking/group_follower.hpp"
#include "runtime/matchmaking/group_leader.hpp"
#include "runtime/matchmaking/line_book.hpp"

using namespace potluck;

namespace {

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

group_id group(std::uint8_t i) {
  group_id x;
  x.bytes[0] = i;
  return x;
}

contract_terms terms(std::uint8_t self) {
  contract_terms x;
  x.self.id = peer(self);
  x.target_batch = 10;
  x.gradient_values = 100;
  x.chunk_values = 8;
  x.plan = [](const group_contract& c) {
    auto members = c.members.size();
    return digest_of(&members, sizeof(members));
  };
  return x;
}

group_invite invite(std::uint8_t g) {
  return {group(g), 6, {}};
}

group_answer yes(std::uint8_t g, std::uint64_t samples) {
  group_answer x;
  x.group = group(g);
  x.accepted = true;
  x.samples = samples;
  return x;
}

group_answer no(std::uint8_t g) {
  group_answer x;
  x.group = group(g);
  return x;
}

template <class Action>
const Action* find(const group_actions& all) {
  for (const auto& x : all)
    if (auto* result = std::get_if<Action>(&x))
      return result;
  return nullptr;
}

/// Those who are sent such a message.
template <class Message>
std::vector<peer_id> told(const group_actions& all) {
  std::vector<peer_id> result;
  for (const auto& x : all)
    if (auto* send = std::get_if<send_to_peer>(&x))
      if (std::holds_alternative<Message>(send->what))
        result.push_back(send->to);
  return result;
}

using peers = std::vector<peer_id>;
using leading = group_leader::state;
using following = group_follower::state;

/// Leader 1, which has invited 2 and 3.
struct inviting {
  explicit inviting(leading_orders orders = {}) {
    auto begun = leader.begin(
        invite(1),
        {{{peer(2), {}}, role::trainer}, {{peer(3), {}}, role::trainer}},
        std::move(orders));
    CHECK(find<freeze_gradient>(begun)->group == group(1));
    CHECK(told<group_invite>(begun) == peers{peer(2), peer(3)});
    CHECK(leader.now() == leading::inviting);
  }
  group_leader leader{terms(1)};
};

/// The contract of leader 1 with follower 2, which has so many samples.
group_contract contract_with(std::uint64_t samples) {
  inviting x;
  x.leader.frozen(yes(1, 6));
  x.leader.answered(peer(3), no(1));
  auto all = x.leader.answered(peer(2), yes(1, samples));
  REQUIRE(find<start_round>(all));
  return find<start_round>(all)->contract;
}

} // namespace

TEST_CASE("a leader that hears nothing of most makers of the step asks again") {
  group_leader leader{terms(1)};
  // Alone it would have samples enough; the newcomers' answers are no help.
  auto ask = [&](std::uint8_t g, std::size_t makers, std::size_t answer) {
    std::vector<invitee> all;
    for (std::uint8_t i = 2; i < 8; ++i)
      all.push_back({{peer(i), {}}, role::trainer, 0, i < 2 + makers});
    leader.begin(invite(g), all, {});
    leader.frozen(yes(g, 10));
    group_actions over;
    for (std::size_t i = 0; i < answer; ++i)
      over
          = leader.answered(peer(static_cast<std::uint8_t>(7 - i)), yes(g, 10));
    if (answer < all.size())
      over = leader.expired();
    const bool starts = find<start_round>(over) != nullptr;
    CHECK(starts == (find<release_gradient>(over) == nullptr));
    if (starts)
      leader.finished();
    return starts;
  };
  CHECK(ask(1, 0, 0)); // It does not know better.
  CHECK(ask(2, 6, 4)); // Two are missing, of seven.
  // Of two, and of seven.
  for (std::size_t makers : {1, 6}) {
    CHECK_FALSE(ask(3, makers, 0));
    CHECK_FALSE(ask(4, makers, 2));
    CHECK(ask(5, makers, 0)); // It has asked twice.
    CHECK(ask(6, makers, 6));
  }
  CHECK(ask(7, 6, 3));       // Three of seven have not.
  CHECK_FALSE(ask(8, 5, 3)); // Half of six.
}

TEST_CASE("a leader that rests hears nothing, and one that averages only the "
          "round's end") {
  group_leader leader{terms(1)};
  CHECK(leader.group().empty());
  CHECK(leader.frozen(yes(1, 6)).empty());
  CHECK(leader.answered(peer(2), yes(1, 6)).empty());
  CHECK(leader.lost(peer(2)).empty());
  CHECK(leader.expired().empty());
  CHECK(leader.give_up("why").empty());
  CHECK(leader.finished().empty());
  inviting x;
  x.leader.frozen(yes(1, 20));
  x.leader.answered(peer(3), yes(1, 4));
  CHECK(find<start_round>(x.leader.answered(peer(2), yes(1, 4))));
  CHECK(x.leader.now() == leading::averaging);
  CHECK(x.leader.answered(peer(2), no(1)).empty());
  CHECK(x.leader.lost(peer(2)).empty());
  CHECK(x.leader.expired().empty());
  CHECK(x.leader.give_up("why").empty());
  CHECK(x.leader.group() == group(1));
  x.leader.finished();
  CHECK(x.leader.now() == leading::idle);
  CHECK(x.leader.group().empty());
}

TEST_CASE("a leader's orders are in its contract") {
  leading_orders orders;
  orders.patience_ms = 700;
  orders.computing_ms = 90;
  inviting x{orders};
  x.leader.frozen(yes(1, 6));
  x.leader.answered(peer(3), no(1));
  auto all = x.leader.answered(peer(2), yes(1, 5));
  auto* start = find<start_round>(all);
  REQUIRE(start);
  CHECK(start->contract.patience_ms == 700);
  CHECK(start->contract.computing_ms == 90);
  CHECK(start->contract.step == 6);
  CHECK(start->contract.least_samples == 10);
  CHECK(told<group_start>(all) == peers{peer(2)});
}

TEST_CASE("a leader that gives up cancels for all but those who said no, and "
          "keeps its gradient frozen") {
  inviting x;
  x.leader.frozen(yes(1, 6));
  x.leader.answered(peer(2), yes(1, 5));
  SUBCASE("one is silent") {
    auto all = x.leader.give_up("following another");
    CHECK(told<group_cancel>(all) == peers{peer(2), peer(3)});
    CHECK_FALSE(find<release_gradient>(all));
  }
  SUBCASE("in vain: what is missing is its own gradient") {
    inviting y;
    auto all = y.leader.expired();
    CHECK(told<group_cancel>(all) == peers{peer(2), peer(3)});
    CHECK(find<release_gradient>(all));
    CHECK(y.leader.now() == leading::idle);
    return;
  }
  CHECK(x.leader.now() == leading::idle);
  CHECK(x.leader.remind(peer(3)).empty());
}

TEST_CASE("a leader says of itself what holds when it closes") {
  inviting x;
  x.leader.frozen(yes(1, 6));
  auto own = yes(1, 6);
  own.upload_bytes_per_second = 3e6;
  x.leader.restate(own);
  x.leader.answered(peer(3), no(1));
  auto all = x.leader.answered(peer(2), yes(1, 5));
  REQUIRE(find<start_round>(all));
  CHECK(find<start_round>(all)->contract.members[0].upload_bytes_per_second
        == 3e6);
}

TEST_CASE("a follower that rests declines what is started, and else hears "
          "nothing") {
  group_follower follower{terms(2)};
  CHECK(follower.group().empty());
  CHECK(follower.frozen(yes(1, 5)).empty());
  CHECK(follower.cancelled(peer(1), {group(1), ""}).empty());
  CHECK(follower.lost(peer(1)).empty());
  CHECK(follower.expired().empty());
  CHECK(follower.forgotten().empty());
  CHECK(follower.finished().empty());
  CHECK(told<group_answer>(follower.started(peer(1), contract_with(5)))
        == peers{peer(1)});
}

TEST_CASE("a follower answers when its gradient is frozen, at once where it is "
          "already, and declines whom it followed before") {
  group_follower follower{terms(2)};
  auto begun = follower.follow(peer(4), invite(4), {});
  CHECK(find<freeze_gradient>(begun));
  CHECK(told<group_answer>(begun).empty());
  CHECK(follower.now() == following::freezing);
  CHECK(told<group_answer>(follower.frozen(yes(9, 5))) == peers{peer(4)});
  CHECK(follower.now() == following::answered);
  auto changed = follower.follow(peer(1), invite(1), yes(9, 5));
  CHECK(find<freeze_gradient>(changed)->group == group(1));
  CHECK(told<group_answer>(changed) == peers{peer(4), peer(1)});
  CHECK(follower.leader() == peer(1));
  // The same leader again, which has forgotten its group.
  auto again = follower.follow(peer(1), invite(3), yes(9, 5));
  CHECK(told<group_answer>(again) == peers{peer(1)});
  CHECK(follower.group() == group(3));
}

TEST_CASE("a follower in a round hears only its end") {
  group_follower follower{terms(2)};
  auto contract = contract_with(5);
  follower.follow(peer(1), invite(1), yes(1, 5));
  CHECK(find<start_round>(follower.started(peer(1), contract)));
  CHECK(follower.now() == following::averaging);
  CHECK(follower.cancelled(peer(1), {group(1), ""}).empty());
  CHECK(follower.lost(peer(1)).empty());
  CHECK(follower.expired().empty());
  CHECK(follower.forgotten().empty());
  CHECK(told<group_answer>(follower.started(peer(1), contract))
        == peers{peer(1)});
  CHECK(follower.now() == following::averaging);
  follower.finished();
  CHECK(follower.now() == following::idle);
  CHECK(follower.leader().empty());
}

TEST_CASE(
    "a follower refuses a contract that says otherwise of it, and rests") {
  group_follower follower{terms(2)};
  follower.follow(peer(1), invite(1), yes(1, 5));
  auto all = follower.started(peer(1), contract_with(6));
  CHECK(told<group_answer>(all) == peers{peer(1)});
  REQUIRE(find<release_gradient>(all));
  CHECK(find<release_gradient>(all)->refused == peer(1));
  CHECK(follower.now() == following::idle);
}

TEST_CASE(
    "a leader does without a member that claims what no machine computes") {
  auto mine = terms(1);
  mine.believable_samples = [] { return 1000; };
  group_leader leader{mine};
  leader.begin(invite(1),
               {{{peer(2), {}}, role::trainer}, {{peer(3), {}}, role::trainer}},
               {});
  leader.frozen(yes(1, 6));
  auto all = leader.answered(peer(3), yes(1, 1001));
  REQUIRE(find<member_lied>(all));
  CHECK(find<member_lied>(all)->member == peer(3));
  CHECK(told<group_cancel>(all) == peers{peer(3)});
  auto rest = leader.answered(peer(2), yes(1, 1000));
  CHECK_FALSE(find<member_lied>(rest));
  REQUIRE(find<start_round>(rest));
  CHECK(find<start_round>(rest)->contract.members.size() == 2);
}

namespace {

/// What those have seen that made so many steps together, 6 samples each.
std::shared_ptr<const past_steps> seen_in(unsigned steps) {
  group_contract x;
  for (std::uint8_t i = 1; i <= 3; ++i) {
    group_member m;
    m.who.id = peer(i);
    m.samples = 6;
    x.members.push_back(m);
  }
  auto result = std::make_shared<past_steps>();
  for (unsigned i = 0; i < steps; ++i)
    result->made(x, {});
  return result;
}

/// What leader 1, which has seen as much, says of these.
group_contract weighed(std::vector<std::uint64_t> samples, unsigned steps) {
  auto mine = terms(1);
  mine.past = [seen = seen_in(steps)] { return seen; };
  group_leader leader{mine};
  leader.begin(invite(1),
               {{{peer(2), {}}, role::trainer}, {{peer(3), {}}, role::trainer}},
               {});
  group_actions all;
  for (std::uint8_t i = 0; i < 3; ++i) {
    auto answer = yes(1, samples[i]);
    answer.loss_sum = 2.0 * static_cast<double>(samples[i]);
    all = i == 0
              ? leader.frozen(answer)
              : leader.answered(peer(static_cast<std::uint8_t>(i + 1)), answer);
  }
  REQUIRE(find<start_round>(all));
  return find<start_round>(all)->contract;
}

} // namespace

TEST_CASE("a leader counts what a member has shown, and as many parts of its "
          "losses") {
  for (std::size_t liar = 0; liar < 3; ++liar) { // The leader, too.
    std::vector<std::uint64_t> samples{6, 6, 6};
    samples[liar] = std::uint64_t{1} << 40;
    const auto x = weighed(samples, 1);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(x.members[i].samples == (i == liar ? 18u : 6u));
      CHECK(
          x.members[i].loss_sum
          == doctest::Approx(2.0 * static_cast<double>(x.members[i].samples)));
    }
  }
}

TEST_CASE("a follower starts where fewer of its samples count, and not where "
          "its losses are others, or none of it counts") {
  auto contract = weighed({6, 1000, 6}, 1);
  auto answer = yes(1, 1000);
  answer.loss_sum = 2000;
  auto starts = [&] {
    group_follower follower{terms(2)};
    follower.follow(peer(1), invite(1), answer);
    return find<start_round>(follower.started(peer(1), contract)) != nullptr;
  };
  CHECK(contract.members[1].samples == 18);
  CHECK(starts());
  SUBCASE("losses") {
    contract.members[1].loss_sum += 1;
    CHECK_FALSE(starts());
  }
  SUBCASE("none") {
    contract.members[1].samples = 0;
    contract.members[1].loss_sum = 0;
    CHECK_FALSE(starts());
  }
  SUBCASE("more") {
    answer.samples = 17;
    CHECK_FALSE(starts());
  }
}

namespace {

/// A follower that has seen these steps.
struct seeing_follower {
  explicit seeing_follower(std::shared_ptr<const past_steps> seen)
      : it([&] {
          auto mine = terms(2);
          mine.past = [seen = std::move(seen)] { return seen; };
          return mine;
        }()) {
  }
  /// Whether it starts where the leader counts so many of its own.
  bool starts(std::uint64_t leaders) {
    it.follow(peer(1), invite(1), yes(1, 6));
    auto contract = contract_with(6);
    contract.members[0].samples = leaders;
    contract.members.push_back(contract.members[1]);
    contract.members[2].who.id = peer(3);
    auto members = contract.members.size();
    contract.plan = digest_of(&members, sizeof(members));
    auto all = it.started(peer(1), contract);
    CHECK_FALSE(find<member_lied>(all));
    const auto starts = find<start_round>(all) != nullptr;
    if (!starts) {
      REQUIRE(find<release_gradient>(all));
      CHECK(find<release_gradient>(all)->miscounts);
      CHECK(find<release_gradient>(all)->refused == peer(1));
    }
    return starts;
  }
  group_follower it;
};

} // namespace

TEST_CASE("a follower refuses a contract that counts far more than was shown, "
          "each time, and blames nobody") {
  seeing_follower x{seen_in(1)};
  CHECK(x.starts(6));
  x.it.finished();
  CHECK(x.starts(37)); // Others may have seen a little more.
  x.it.finished();
  for (int i = 0; i < 4; ++i)
    CHECK_FALSE(x.starts(38));
}

TEST_CASE("nor does it start on one that counts far fewer of its samples than "
          "it has shown") {
  auto mine = terms(2);
  auto seen = seen_in(1);
  mine.past = [&] { return seen; };
  mine.computing = [] { return duration{std::chrono::seconds{1}}; };
  const auto starts = [&](std::uint64_t counted) {
    group_follower follower{mine};
    follower.follow(peer(1), invite(1), yes(1, 6));
    auto contract = contract_with(6);
    contract.members[0].samples = 18;
    contract.members.push_back(contract.members[1]);
    contract.members[2].who.id = peer(3);
    contract.members[1].samples = counted;
    const auto members = contract.members.size();
    contract.plan = digest_of(&members, sizeof(members));
    const auto all = follower.started(peer(1), contract);
    if (!find<start_round>(all))
      CHECK(find<release_gradient>(all)->miscounts);
    return find<start_round>(all) != nullptr;
  };
  CHECK(starts(6));
  CHECK(starts(3));
  CHECK_FALSE(starts(2));
  // A leader that has come in a step that this peer rested in does not know.
  auto rested = contract_with(6);
  rested.members[0].samples = 6;
  rested.members[1].samples = 0;
  auto later = *seen;
  later.made(rested, {});
  seen = std::make_shared<past_steps>(later);
  CHECK(starts(2));
}

TEST_CASE("of two trainers none refuses what the other counts") {
  auto mine = terms(2);
  mine.past = [seen = seen_in(1)] { return seen; };
  mine.computing = [] { return duration{std::chrono::seconds{1}}; };
  group_follower follower{mine};
  follower.follow(peer(1), invite(1), yes(1, 6));
  auto contract = contract_with(6);
  contract.members[0].samples = 1'000'000;
  contract.members[1].samples = 1;
  CHECK(find<start_round>(follower.started(peer(1), contract)));
}

TEST_CASE("who has just come refuses nothing, in a run's first step each holds "
          "the contract against itself") {
  CHECK(seeing_follower{
      std::make_shared<past_steps>(past_steps::newcomer(peer(2)))}
            .starts(1'000'000));
  seeing_follower x{seen_in(0)};
  CHECK(x.starts(193)); // 16 times the median, and twice that.
  x.it.finished();
  CHECK_FALSE(x.starts(194));
}

TEST_CASE("a follower refuses what is far beyond what it believes, and blames "
          "its leader for the leader's own samples alone") {
  auto contract = contract_with(5);
  auto mine = terms(2);
  std::uint64_t most = 0;
  mine.believable_samples = [&most] { return most; };
  group_follower follower{mine};
  auto started = [&](std::uint64_t of_leader, std::uint64_t of_other) {
    auto x = contract;
    x.members[0].samples = of_leader;
    x.members.push_back(x.members[1]);
    x.members[2].who.id = peer(3);
    x.members[2].samples = of_other;
    auto members = x.members.size();
    x.plan = digest_of(&members, sizeof(members));
    follower.follow(peer(1), invite(1), yes(1, 5));
    return follower.started(peer(1), x);
  };
  most = 100;
  SUBCASE("the leader lies") {
    auto all = started(202, 5);
    REQUIRE(find<release_gradient>(all));
    CHECK(find<release_gradient>(all)->refused == peer(1));
    CHECK(told<group_answer>(all) == peers{peer(1)});
    REQUIRE(find<member_lied>(all));
    CHECK(find<member_lied>(all)->member == peer(1));
  }
  SUBCASE("it was lied to, or lies of others") {
    auto all = started(6, 202);
    CHECK(find<release_gradient>(all));
    CHECK_FALSE(find<member_lied>(all));
  }
  SUBCASE("it has heard of others, and believes twice as much") {
    CHECK(find<start_round>(started(201, 201)));
  }
}

TEST_CASE("a redrawn group counts more than half of its samples, another one "
          "the target batch") {
  auto x = terms(1);
  CHECK(x.least_of(30) == 10);
  x.redrawn = true;
  CHECK(x.least_of(30) == 16);
  CHECK(x.least_of(31) == 16);
  group_contract contract;
  contract.members.resize(3);
  contract.members[0].samples = UINT64_MAX;
  contract.members[1].samples = 5;
  CHECK(samples_of(contract) == UINT64_MAX); // Not around the end.
}

TEST_CASE("a leader leaves out who has too few lines, and tells it of the "
          "group") {
  inviting x;
  x.leader.frozen(yes(1, 6));
  auto lonely = yes(1, 5);
  lonely.relayed = {peer(1), peer(2), peer(9)};
  x.leader.answered(peer(3), lonely);
  auto all = x.leader.answered(peer(2), yes(1, 5));
  REQUIRE(find<start_round>(all));
  CHECK(find<start_round>(all)->contract.members.size() == 2);
  REQUIRE(told<group_start>(all) == peers{peer(3), peer(2)});
  auto& start = find<send_to_peer>(all)->what;
  auto contract = std::get<group_start>(start).contract;
  CHECK(contract.members.size() == 2);
  group_follower follower{terms(3)};
  follower.follow(peer(1), invite(1), lonely);
  auto out = follower.started(peer(1), contract);
  CHECK(told<group_answer>(out).empty());
  REQUIRE(find<release_gradient>(out));
  CHECK(find<release_gradient>(out)->members == peers{peer(1), peer(2)});
  CHECK(find<release_gradient>(out)->refused.empty());
  CHECK(follower.now() == following::idle);
  // Whose contract forgets a member that has all lines makes a mistake.
  follower.follow(peer(1), invite(1), yes(1, 5));
  auto mistake = follower.started(peer(1), contract);
  CHECK(find<release_gradient>(mistake)->refused == peer(1));
  CHECK(told<group_answer>(mistake) == peers{peer(1)});
  // That the others miss the line is the leader's word alone.
  for (auto& missing : {peers{peer(3)}, peers{peer(2)}}) {
    contract.members[1].relayed = missing;
    follower.follow(peer(1), invite(1), yes(1, 5));
    auto lie = follower.started(peer(1), contract);
    REQUIRE(find<release_gradient>(lie));
    CHECK(find<release_gradient>(lie)->members.empty());
    CHECK(find<release_gradient>(lie)->refused == peer(1));
  }
}

TEST_CASE("who is left out hears of it even when the others have too few "
          "samples") {
  inviting x;
  x.leader.frozen(yes(1, 2));
  auto lonely = yes(1, 50);
  lonely.relayed = {peer(1), peer(2)};
  x.leader.answered(peer(3), lonely);
  auto all = x.leader.answered(peer(2), yes(1, 2));
  CHECK_FALSE(find<start_round>(all));
  CHECK(find<release_gradient>(all));
  CHECK(told<group_start>(all) == peers{peer(3)});
  CHECK(told<group_cancel>(all) == peers{peer(2)});
}

TEST_CASE("where no two can average, none is told that others do") {
  inviting x;
  auto own = yes(1, 6);
  own.relayed = {peer(2), peer(3)};
  x.leader.frozen(own);
  auto second = yes(1, 5);
  second.relayed = {peer(1), peer(3)};
  x.leader.answered(peer(2), second);
  auto third = yes(1, 5);
  third.relayed = {peer(1), peer(2)};
  auto all = x.leader.answered(peer(3), third);
  CHECK_FALSE(find<start_round>(all));
  REQUIRE(find<release_gradient>(all));
  CHECK(find<release_gradient>(all)->members.empty());
  CHECK(told<group_start>(all).empty());
  CHECK(told<group_cancel>(all) == peers{peer(2), peer(3)});
}

TEST_CASE("a leader with too few lines of its own lets others lead") {
  inviting x;
  auto own = yes(1, 6);
  own.relayed = {peer(2), peer(3)};
  x.leader.frozen(own);
  x.leader.answered(peer(3), yes(1, 5));
  auto all = x.leader.answered(peer(2), yes(1, 5));
  CHECK_FALSE(find<start_round>(all));
  REQUIRE(find<release_gradient>(all));
  CHECK(find<release_gradient>(all)->members == peers{peer(2), peer(3)});
  CHECK(told<group_cancel>(all) == peers{peer(2), peer(3)});
}

TEST_CASE("a contract says in one word that a member has no line to any other "
          "trainer, and names no strangers") {
  group_leader leader{terms(1)};
  leader.begin(invite(1),
               {{{peer(2), {}}, role::trainer},
                {{peer(3), {}}, role::trainer},
                {{peer(7), {}}, role::auxiliary}},
               {});
  auto own = yes(1, 6);
  own.relayed = {peer(2), peer(9)};
  leader.frozen(own);
  leader.answered(peer(7), yes(1, 0));
  leader.answered(peer(3), yes(1, 5));
  auto second = yes(1, 5);
  second.relayed = {peer(1), peer(3)};
  auto all = leader.answered(peer(2), second);
  REQUIRE(find<start_round>(all));
  const auto& contract = find<start_round>(all)->contract;
  REQUIRE(contract.members.size() == 4); // By the auxiliary.
  CHECK(contract.members[0].relayed == peers{peer(2)});
  CHECK(contract.members[1].relayed == peers{peer(2)});
  CHECK(contract.members[2].relayed.empty());
  CHECK(terms(2).problem_with(contract, peer(1), 6, second).empty());
  // One that knows of another missing line does not start on it.
  auto third = yes(1, 5);
  third.relayed = {peer(1)};
  CHECK(terms(3).problem_with(contract, peer(1), 6, third).find("no line")
        != std::string::npos);
  auto nobody = contract;
  nobody.members.pop_back();
  nobody.members[2].relayed = {peer(1)};
  CHECK(terms(2).problem_with(nobody, peer(1), 6, second).find("nobody")
        != std::string::npos);
}

TEST_CASE("a leader counts on no more of an auxiliary's line than it is told") {
  group_leader leader{terms(1)};
  leader.begin(invite(1),
               {{{peer(2), {}}, role::trainer},
                {{peer(3), {}}, role::auxiliary, 1000},
                {{peer(4), {}}, role::auxiliary, 1000}},
               {});
  auto own = yes(1, 10);
  leader.frozen(own);
  leader.answered(peer(2), yes(1, 10));
  auto helper = yes(1, 0);
  helper.upload_bytes_per_second = 700;
  helper.download_bytes_per_second = 1e10;
  leader.answered(peer(3), helper);
  auto all = leader.answered(peer(4), yes(1, 0)); // It knows nothing of it.
  REQUIRE(find<start_round>(all));
  const auto& contract = find<start_round>(all)->contract;
  CHECK(contract.members[2].upload_bytes_per_second == 700);
  CHECK(contract.members[2].download_bytes_per_second == 1000);
  CHECK(contract.members[3].upload_bytes_per_second == 1000);
  // It takes part all the same, but not with more than it said.
  auto its = terms(3);
  its.role = role::auxiliary;
  CHECK(its.problem_with(contract, peer(1), 6, helper).empty());
  auto slower = helper;
  slower.download_bytes_per_second = 900;
  CHECK_FALSE(its.problem_with(contract, peer(1), 6, slower).empty());
}

TEST_CASE("an auxiliary that would average nothing stays out") {
  auto its = terms(1);
  its.idle = [](const group_contract& c) {
    return c.members.size() < 4 ? std::vector<std::size_t>{}
                                : std::vector<std::size_t>{3};
  };
  group_leader leader{its};
  leader.begin(invite(1),
               {{{peer(2), {}}, role::trainer},
                {{peer(3), {}}, role::auxiliary},
                {{peer(4), {}}, role::auxiliary}},
               {});
  leader.frozen(yes(1, 10));
  leader.answered(peer(2), yes(1, 10));
  leader.answered(peer(3), yes(1, 0));
  const auto all = leader.answered(peer(4), yes(1, 0));
  REQUIRE(find<start_round>(all));
  CHECK(find<start_round>(all)->contract.members.size() == 3);
  CHECK(told<group_cancel>(all) == peers{peer(4)});
  CHECK(told<group_start>(all) == peers{peer(2), peer(3)});
}

TEST_CASE("an auxiliary that does not answer is set aside, a trainer is late") {
  group_leader leader{terms(1)};
  leader.begin(invite(1),
               {{{peer(2), {}}, role::trainer},
                {{peer(3), {}}, role::trainer},
                {{peer(4), {}}, role::auxiliary}},
               {});
  leader.frozen(yes(1, 10));
  leader.answered(peer(2), yes(1, 10));
  const auto all = leader.expired();
  REQUIRE(find<start_round>(all));
  std::vector<peer_id> aside;
  for (const auto& x : all)
    if (auto* lied = std::get_if<member_lied>(&x))
      aside.push_back(lied->member);
  CHECK(aside == peers{peer(4)});
  REQUIRE(find<answers_over>(all));
  CHECK(find<answers_over>(all)->unanswered == peers{peer(3)});
}

TEST_CASE("who is late is named where the others have too few samples, too") {
  inviting x;
  x.leader.frozen(yes(1, 1));
  x.leader.answered(peer(2), yes(1, 1));
  const auto all = x.leader.expired();
  CHECK(find<release_gradient>(all));
  REQUIRE(find<answers_over>(all));
  CHECK(find<answers_over>(all)->unanswered == peers{peer(3)});
}

TEST_CASE("a leader that keeps those waiting that have answered is blamed") {
  group_follower follower{terms(2)};
  follower.follow(peer(1), invite(1), std::nullopt);
  // It may wait for this peer's own gradient.
  CHECK_FALSE(find<leader_failed>(follower.expired()));
  follower.follow(peer(1), invite(2), yes(2, 5));
  const auto all = follower.expired();
  CHECK(find<release_gradient>(all));
  REQUIRE(find<leader_failed>(all));
  CHECK(find<leader_failed>(all)->leader == peer(1));
}

TEST_CASE("a peer knows with whom it has no line") {
  line_book x;
  x.joined(peer(2), false);
  x.joined(peer(3), true);
  x.left(peer(4), false); // Hearsay, and could not be dialled.
  x.heard_of(peer(2));
  x.heard_of(peer(5));
  CHECK(x.without() == peers{peer(3), peer(5)});
  x.joined(peer(3), false); // A hole was punched.
  x.left(peer(2), false);
  CHECK(x.without() == peers{peer(2), peer(5)});
  x.left(peer(5), true);
  CHECK(x.without() == peers{peer(2)});
  x.joined(peer(4), true);
  for (std::size_t i = 0; i < 2 * max_members; ++i) {
    auto id = peer(9);
    id.bytes[1] = static_cast<std::uint8_t>(i);
    id.bytes[2] = static_cast<std::uint8_t>(i >> 8);
    x.heard_of(id);
  }
  CHECK(x.without().size() == max_members);
  CHECK(x.without().front() == peer(4)); // However many are made up.
}
