#include "actors/admission_keeper.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/support/test_world.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t noon_ms = 1'800'000'000'000;
constexpr std::uint64_t hour_ms = 3'600'000;

run_id poems() {
  run_id x;
  x.bytes.fill(7);
  return x;
}

/// Peer 1's keeper among fakes; peer 9 is the run's authority.
struct admitting_desk {
  explicit admitting_desk(bool has_token = false, bool knows_terms = true)
      : system(world.add_system()), gateway(system.pretend<gateway_actor>()),
        observer(system.pretend<observer_actor>()),
        parent(system.pretend<supervisor_actor>()) {
    gate->lay_down(
        {admission_rules::mode::token, {peer(9), {"gate", 1}}, true});
    admission_keeper_config c;
    c.self = peer(1);
    c.run = run_key("poems", poems());
    c.gate = gate;
    c.signs = made_up(peer(1));
    c.known = knows_terms;
    c.mode = worker_mode::immediate;
    if (has_token)
      c.papers.kept.token = token(1, noon_ms);
    it = system.keep((*system).spawn(admission_keeper, c));
    admission_handles w;
    w.letters.gateway = gateway.handle;
    w.gateway = gateway.handle;
    w.observer = observer.handle;
    w.supervisor = parent.handle;
    caf::anon_send(it, w);
    world.settle();
  }
  static std::string token(std::uint8_t holder, std::uint64_t from_ms) {
    return to_bytes(
        issue({poems(), peer(holder), from_ms, from_ms + hour_ms, {}},
              *made_up(peer(9))));
  }
  void joins(std::uint8_t who, role what) {
    peer_joined x;
    x.who.id = peer(who);
    x.role = what;
    caf::anon_send(it, x);
    world.settle();
  }
  void says(std::uint8_t from, message x) {
    caf::anon_send(it, letter{peer(from), std::move(x), {}});
    world.settle();
  }
  /// What peer `to` was answered to a claim that shows this token.
  admission_reply vouched(std::uint8_t to, const std::string& last) {
    admission_claim claim;
    claim.last = last;
    says(to, admission_request{5, run_key("poems", poems()), to_bytes(claim)});
    const auto all = gateway->all<parcel>();
    REQUIRE_FALSE(all.empty());
    auto reply = std::get_if<admission_reply>(&all.back().content);
    REQUIRE(reply);
    CHECK(all.back().to == peer(to));
    CHECK(reply->token == 5);
    return *reply;
  }
  std::size_t questions() const {
    return gateway->contents<admission_request>().size();
  }

  std::uint64_t now_ms = noon_ms;
  std::shared_ptr<admission_gate> gate = std::make_shared<admission_gate>(
      peer(1), run_key("poems", poems()), made_up(peer(1)),
      [this] { return now_ms; });
  test_world world;
  test_system& system;
  fake<gateway_actor> gateway;
  fake<observer_actor> observer;
  fake<supervisor_actor> parent;
  admission_keeper_actor it;
};

} // namespace

TEST_CASE("an authority that answers nonsense is told of once, and asked on") {
  admitting_desk d;
  d.joins(9, role::bootstrap);
  for (int i = 1; i <= 4; ++i) {
    CHECK(d.questions() == std::size_t(i));
    d.says(9, admission_reply{1, "\x1b[2J", ""});
    d.world.run_for(6s);
  }
  auto told = d.observer->events("fault");
  REQUIRE(told.size() >= 1);
  CHECK(field<std::string>(told[0], "what") == "bad admission");
  CHECK(std::count_if(told.begin(), told.end(),
                      [](auto& x) {
                        return field<std::string>(x, "what") == "bad admission";
                      })
        == 1);
  CHECK(d.parent->count<run_entered>() == 0);
  d.says(9, admission_reply{1, admitting_desk::token(2, noon_ms),
                            ""}); // Another's.
  CHECK(d.parent->count<run_entered>() == 0);
  d.world.run_for(6s);
  d.says(9, admission_reply{1, admitting_desk::token(1, noon_ms), ""});
  CHECK(d.parent->count<run_entered>() == 1);
  CHECK(d.gate->is_inside());
}

TEST_CASE("an answer that nobody has asked for changes nothing") {
  admitting_desk d;
  d.says(9, admission_reply{1, admitting_desk::token(1, noon_ms), ""});
  d.says(5, admission_reply{1, admitting_desk::token(1, noon_ms), ""});
  CHECK(d.parent->count<run_entered>() == 0);
  d.joins(9, role::bootstrap);
  d.says(5, admission_reply{1, "", "no"});
  CHECK(d.observer->count<peer_over>() == 0);
  d.says(9, admission_reply{1, "", "no"});
  REQUIRE(d.observer->count<peer_over>() == 1);
  CHECK(d.observer->last<peer_over>().users_mistake);
}

TEST_CASE("a refusal ends nothing before it is known whether the organiser has "
          "opened the run") {
  admitting_desk d{false, false};
  d.joins(9, role::bootstrap);
  d.says(9, admission_reply{1, "", "no"});
  CHECK(d.observer->count<peer_over>() == 0);
  CHECK(d.observer->events("fault").size() == 1);
  SUBCASE("which it has") {
    d.gate->amend(admission_rules::mode::open);
    caf::anon_send(d.it, charter_agreed{});
    d.world.run_for(60s);
    CHECK(d.observer->count<peer_over>() == 0);
  }
  SUBCASE("which it has not") {
    caf::anon_send(d.it, charter_agreed{});
    d.world.settle();
    CHECK(d.observer->count<peer_over>() == 1);
  }
  SUBCASE("which nobody says") {
    d.world.run_for(11s);
    CHECK(d.observer->count<peer_over>() == 1);
  }
}

TEST_CASE("a refused renewal ends nothing before the token does") {
  admitting_desk d{true};
  d.joins(9, role::bootstrap);
  CHECK(d.questions() == 0);
  d.now_ms += hour_ms - 30'000;
  d.world.run_for(1s);
  CHECK(d.questions() == 1);
  d.says(9, admission_reply{1, "", "It is over."});
  CHECK(d.observer->count<peer_over>() == 0);
  CHECK(d.observer->events("fault").size() == 1);
  d.now_ms += 31'000;
  d.world.run_for(6s);
  d.says(9, admission_reply{1, "", "It is over."});
  CHECK(d.observer->count<peer_over>() == 1);
}

TEST_CASE("a member vouches for those that were in, while the authority is "
          "away") {
  admitting_desk d{true};
  const auto theirs = admitting_desk::token(2, noon_ms - 20 * hour_ms);
  SUBCASE("and not for longer than it may") {
    auto yes = d.vouched(2, theirs);
    auto x = read_admission(yes.admission);
    REQUIRE(x);
    CHECK(x->is_voucher());
    CHECK(problem_with(*x, peer(2), {poems(), d.gate->rules(), d.now_ms},
                       *made_up(peer(3)))
          == "");
    // Not again and again.
    CHECK(d.vouched(2, theirs).admission.empty());
    // Nor by a voucher, nor for others.
    CHECK(d.vouched(3, yes.admission).admission.empty());
    CHECK(d.vouched(4, theirs).admission.empty());
    CHECK(d.vouched(5, "").admission.empty());
    CHECK(d.vouched(6, admitting_desk::token(6, noon_ms - 26 * hour_ms))
              .sentence.find("more than a day ago")
          != std::string::npos);
  }
  SUBCASE("but not beside an authority that is there") {
    d.joins(9, role::bootstrap);
    auto no = d.vouched(2, theirs);
    CHECK(no.admission.empty());
    CHECK(no.sentence.find("answers; ask it") != std::string::npos);
  }
}

TEST_CASE("who has no token itself vouches for nobody") {
  admitting_desk d;
  CHECK(d.vouched(2, admitting_desk::token(2, noon_ms)).sentence
        == "This peer has no token of the authority itself.");
}
