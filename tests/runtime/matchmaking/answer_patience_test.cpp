#include "runtime/config.hpp"
#include "runtime/matchmaking/answer_patience.hpp"

#include <doctest/doctest.h>

#include "runtime/matchmaking/contract_plans.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[31] = i;
  return x;
}

group_id group(std::uint8_t i) {
  group_id x;
  x.bytes[0] = i;
  return x;
}

group_answer yes(std::uint8_t g) {
  group_answer x;
  x.group = group(g);
  x.accepted = true;
  return x;
}

/// Leader 1, which invites 2 again and again.
struct leader {
  /// A group whose answer took so long, and arrived when the leader was in
  /// `current`.
  void round(duration took, std::uint8_t current) {
    patience.begin(group(++last), invited, now);
    patience.frozen(group(last), now + 10ms);
    patience.answered(peer(2), yes(last), group(current == 0 ? last : current),
                      now + took);
    now += 10s;
  }
  duration of(duration guess) const {
    return patience.of(invited, guess);
  }

  std::vector<contact> invited{{peer(2), {}}};
  answer_patience patience{peer(1)};
  time_point now{1h};
  std::uint8_t last = 0;
};

} // namespace

TEST_CASE("a leader waits for newcomers as long as a batch may take, and for "
          "others as long as they took lately") {
  leader x;
  CHECK(x.of(7s) == 7s);
  CHECK(x.of(10h) == limits::answer_cap);
  for (int i = 0; i < 8; ++i)
    x.round(100ms, 0);
  CHECK(x.of(7s) < 7s);
  CHECK(x.of(7s) >= limits::answer_floor);
  x.invited.push_back({peer(3), {}});
  CHECK(x.of(7s) == 7s);
}

TEST_CASE("however regular answers are, the next may wait for a batch") {
  // Over lines of two seconds each way: the spread is next to nothing.
  leader x;
  for (int i = 0; i < 8; ++i)
    x.round(4s, 0);
  CHECK(x.of(1s) == 4s + limits::longest_batch);
}

TEST_CASE("of two that make a group the one that answers is not late") {
  answer_patience x{peer(1)};
  const std::vector<contact> other{{peer(2), {}}};
  const time_point now{1h};
  x.begin(group(1), other, now);
  x.frozen(group(1), now + 10ms);
  SUBCASE("it has a long line") {
    x.answered(peer(2), yes(1), group(1), now + 4s);
    CHECK(x.late({}, 1s, now + 4s).who.empty());
  }
  SUBCASE("it says nothing") {
    CHECK(x.late({peer(2)}, 1s, now + 4s).who == std::vector<peer_id>{peer(2)});
  }
}

TEST_CASE("one who answers late is given more time, one who is silent is not") {
  leader x;
  for (int i = 0; i < 8; ++i)
    x.round(1s, 0);
  auto before = x.of(7s);
  x.patience.begin(group(99), x.invited, x.now); // Nothing comes of it.
  CHECK(x.of(7s) == before);
  x.round(1s, 200);
  CHECK(x.of(7s) > before);
}

TEST_CASE("an answer counts once, and for the group that this peer leads") {
  leader x;
  x.patience.begin(group(1), x.invited, x.now);
  x.patience.answered(peer(2), yes(2), group(1), x.now + 1s);
  x.patience.answered(peer(3), yes(1), group(1), x.now + 1s);
  auto no = yes(1);
  no.accepted = false;
  x.patience.answered(peer(2), no, group(1), x.now + 1s);
  CHECK(x.of(7s) == 7s);
}

namespace {

group_contract contract_of(double bytes_per_second) {
  group_contract x;
  x.group = group(1);
  x.gradient_values = 1'000'000;
  x.chunk_values = 1000;
  for (std::uint8_t i = 1; i <= 3; ++i) {
    group_member m;
    m.who.id = peer(i);
    m.samples = 10;
    m.upload_bytes_per_second = bytes_per_second;
    m.download_bytes_per_second = bytes_per_second;
    x.members.push_back(m);
  }
  return x;
}

} // namespace

TEST_CASE("rounds that take far longer than planned end the belief in what is "
          "said of lines, if equal shares are faster") {
  contract_plans plans{share_rule::planned};
  auto quoted = contract_of(1e6);
  auto silent = contract_of(0);
  CHECK(plans.believe());
  plans.begin(quoted);
  CHECK(plans.planned_seconds() == plans.of(quoted).predicted_seconds);
  CHECK(plans.planned_seconds() > 0);
  bool changed = false;
  for (std::size_t i = 0; i < claims_check::slow_rounds; ++i) {
    CHECK_FALSE(changed);
    changed = plans.took(quoted, 100 + 10 * plans.planned_seconds());
  }
  CHECK(changed);
  CHECK_FALSE(plans.believe());
  plans.begin(silent);
  CHECK_FALSE(plans.took(silent, 1));
  CHECK_FALSE(plans.believe());
}

TEST_CASE("what no plan was made for says nothing about plans") {
  auto quoted = contract_of(1e6);
  SUBCASE("another round than the one begun") {
    contract_plans plans{share_rule::planned};
    for (int i = 0; i < 9; ++i)
      CHECK_FALSE(plans.took(quoted, 1e6));
  }
  SUBCASE("shares that are equal in any case") {
    contract_plans plans{share_rule::all_reduce};
    plans.begin(quoted);
    for (int i = 0; i < 9; ++i)
      CHECK_FALSE(plans.took(quoted, 1e6));
  }
  SUBCASE("a group of one") {
    contract_plans plans{share_rule::planned};
    quoted.members.resize(1);
    plans.begin(quoted);
    for (int i = 0; i < 9; ++i)
      CHECK_FALSE(plans.took(quoted, 1e6));
  }
}

TEST_CASE("late is who answers long after half of the group, or not at all") {
  answer_patience x{peer(1)};
  const time_point start{1h};
  const std::vector<contact> invited{
      {peer(2), {}}, {peer(3), {}}, {peer(4), {}}, {peer(5), {}}};
  x.begin(group(1), invited, start);
  x.frozen(group(1), start + 1s);
  x.answered(peer(2), yes(1), group(1), start + 2s);
  x.answered(peer(3), yes(1), group(1), start + 3s);
  auto late = x.late({}, 1s, start + 8s);
  CHECK(late.who.empty());
  CHECK(late.how_long == 0s);
  x.answered(peer(4), yes(1), group(1), start + 5s);
  late = x.late({peer(5)}, 1s, start + 8s);
  CHECK(late.who == std::vector<peer_id>{peer(4), peer(5)});
  CHECK(late.how_long == 4s); // Half of all have answered after 3 s.
  CHECK(x.late({peer(5)}, 2s, start + 8s).who == std::vector<peer_id>{peer(5)});
  x.begin(group(2), invited, start + 10s); // The group before is forgotten.
  CHECK(x.late({}, 1s, start + 20s).who.empty());
  // Nobody is late where all are.
  CHECK(x.late({peer(2), peer(3)}, 1s, start + 20s).who.empty());
}
