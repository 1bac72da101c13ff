/// Whole peers of a run that admits not everybody, in virtual time.
#include "actors/admission_keeper.hpp"
#include "actors/authority.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include "messages/codec.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tests/actors/whole_peer.hpp"
#include "tests/support/temporary_directory.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint8_t gate = 9;
constexpr std::uint64_t token_ms = 60'000;

manifest closed_soup(bool vouchers) {
  auto settings = tiny_charter(100'000, 64).settings();
  settings.run = "soup";
  settings.admission = "token";
  settings.authority = authority_text({peer(gate), {host(gate), 1000}});
  settings.vouchers = vouchers ? "yes" : "no";
  static const auto organiser = key_pair::generate();
  return unwrap(sign_charter({settings, ""}, organiser));
}

invite_code code_number(std::uint8_t x) {
  invite_code code;
  code.bytes.fill(x);
  return code;
}

/// An authority, whose code 1 lets in two, and those who come.
struct guarded_kitchen {
  explicit guarded_kitchen(bool vouchers = true) : soup(closed_soup(vouchers)) {
    auto book = authority_book::open(folder / "authority.db");
    REQUIRE(book);
    REQUIRE(book->add_code(soup.id(), code_number(1), 2,
                           authority_book::for_ever, 3'600'000 * 24));
    open_gate();
  }
  ~guarded_kitchen() {
    for (auto& x : everybody)
      x->leave();
    world.run_for(2 * limits::leave_patience);
  }

  /// @param number Of the host where it is.
  void open_gate(std::uint8_t number = gate,
                 std::vector<std::uint8_t> seeds = {}) {
    auto c = tiny_peer(world.network, number, std::move(seeds), 1);
    c.self = peer(gate);
    c.signs = made_up(c.self);
    c.make_transport = [this, number] {
      return world.network.make_transport(host(number), peer(gate));
    };
    c.role = role::bootstrap;
    c.run.clear();
    c.manifests[soup.run()] = soup.to_bytes();
    auto book = authority_book::open(folder / "authority.db");
    REQUIRE(book);
    c.authority = authority_office{
        std::make_shared<authority_desk>(
            std::move(*book), authority_desk::settings{{soup.run()},
                                                       c.signs,
                                                       token_ms,
                                                       3'600'000,
                                                       16,
                                                       program != nullptr}),
        c.wall_clock, program};
    authority = std::make_unique<whole_peer>(world, std::move(c));
  }

  peer_config newcomer(std::uint8_t number, std::vector<std::uint8_t> seeds,
                       std::uint8_t code) {
    auto c = tiny_peer(world.network, number, std::move(seeds), 1);
    c.run = soup.run();
    c.propose = nullptr;
    c.papers.authority = {peer(gate), {host(gate), 1000}};
    if (code != 0)
      c.papers.claim.code = code_number(code);
    c.papers.path = folder / (std::to_string(number) + ".admission");
    return c;
  }
  whole_peer& join(std::uint8_t number, std::vector<std::uint8_t> seeds,
                   std::uint8_t code) {
    return start(newcomer(number, std::move(seeds), code));
  }
  bool train_together(whole_peer& a, whole_peer& b, duration patience) {
    const auto from = std::max(a.step(), b.step());
    return world.run_until(
        [&] {
          auto of_a = a.observer->events("step");
          auto of_b = b.observer->events("step");
          return !of_a.empty() && !of_b.empty() && a.step() > from + 3
                 && b.step() > from + 3
                 && field<std::uint64_t>(of_a.back(), "peers") == 2;
        },
        patience);
  }
  kept_admission kept(std::uint8_t number) const {
    std::ifstream file{folder / (std::to_string(number) + ".admission"),
                       std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    return read_kept_admission(bytes);
  }
  /// As the next start of a member begins, with what it had kept.
  peer_config returning(std::uint8_t number, std::vector<std::uint8_t> seeds) {
    auto c = newcomer(number, std::move(seeds), 1);
    c.papers.kept = kept(number);
    c.manifests[soup.run()] = soup.to_bytes();
    return c;
  }
  whole_peer& start(peer_config c) {
    everybody.push_back(std::make_unique<whole_peer>(world, std::move(c)));
    return *everybody.back();
  }

  support::temporary_directory folder;
  test_world world;
  manifest soup;
  /// Of the authority's next start; null: there is none.
  std::function<expected<bool>(const peer_id&, const std::string&)> program;
  std::unique_ptr<whole_peer> authority;
  std::vector<std::unique_ptr<whole_peer>> everybody;
};

std::vector<std::string> faults(whole_peer& who, const std::string& what) {
  std::vector<std::string> result;
  for (auto& x : who.observer->events("fault"))
    if (field<std::string>(x, "what") == what)
      result.push_back(field<std::string>(x, "detail"));
  return result;
}

/// Somebody with a program of their own, who says whatever a test likes.
class stranger : public transport_listener {
public:
  stranger(test_world& world, std::uint8_t number, const address& whom)
      : net(world.network.make_transport(host(number), peer(number))) {
    net->start(std::shared_ptr<transport_listener>{this, [](auto*) {}});
    at = net->dial(whom);
    world.run_for(100ms);
  }
  ~stranger() override {
    net->stop();
  }
  void on_accepted(connection_id, const address&, const peer_id&) override {
  }
  void on_connected(connection_id, const address&, const peer_id&) override {
  }
  void on_frame(connection_id, incoming_frame frame) override {
    bytes += frame.head.size() + frame.body.size;
    auto x = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (!x)
      return;
    if (auto beat = std::get_if<heartbeat>(&*x))
      say(heartbeat_reply{beat->token});
    heard.push_back(*x);
  }
  void on_closed(connection_id, const std::string&) override {
    closed = true;
  }
  void say(const message& x, shared_bytes body = {}) {
    net->send(at, {encode(x), std::move(body)});
  }
  template <class T>
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::count_if(heard.begin(), heard.end(),
                      [](auto& x) { return std::holds_alternative<T>(x); }));
  }

  std::unique_ptr<transport> net;
  connection_id at = 0;
  std::vector<message> heard;
  std::size_t bytes = 0;
  bool closed = false;
};

hello introduction(std::uint8_t number, const std::string& run,
                   std::string admission = "") {
  hello x;
  x.id = peer(number);
  x.run = run;
  x.admission = std::move(admission);
  return x;
}

} // namespace

TEST_CASE(
    "members with an invitation train, and a third without gets nothing") {
  guarded_kitchen k;
  auto& a = k.join(1, {gate}, 1);
  auto& b = k.join(2, {gate, 1}, 1);
  REQUIRE(k.train_together(a, b, 60s));
  CHECK(faults(a, "not admitted").empty());

  auto& c = k.join(3, {gate, 1, 2}, 0);
  REQUIRE(k.world.run_until([&] { return c.over(); }, 30s));
  const auto end = c.observer->last<peer_over>();
  CHECK(end.users_mistake);
  CHECK(end.problem.find("does not admit this peer") != std::string::npos);
  CHECK(c.observer->events("step").empty());
  CHECK(c.observer->events("state_download").empty());

  // The code is used up.
  auto& d = k.join(4, {gate, 1, 2}, 1);
  REQUIRE(k.world.run_until([&] { return d.over(); }, 30s));
  CHECK(d.observer->last<peer_over>().problem.find("as often as it may")
        != std::string::npos);
  CHECK(k.train_together(a, b, 60s));
}

TEST_CASE("nobody is refused while the program cannot be asked, and the "
          "operator hears why, once") {
  guarded_kitchen k;
  k.authority.reset();
  auto mended = std::make_shared<bool>(false);
  k.program = [mended](const peer_id&, const std::string&) -> expected<bool> {
    if (*mended)
      return true;
    return failure{"The program log-in cannot be started; mend the program."};
  };
  k.open_gate();
  auto& a = k.join(1, {gate}, 0);
  k.world.run_for(60s);
  CHECK_FALSE(a.over());
  CHECK(k.authority->observer->events("refused").empty());
  CHECK(faults(*k.authority, "program")
        == std::vector<std::string>{
            "The program log-in cannot be started; mend the program."});
  CHECK(a.observer->events("admission").empty());
  *mended = true;
  CHECK(k.world.run_until(
      [&] { return !a.observer->events("admission").empty(); }, 60s));
}

TEST_CASE("whoever speaks without a token hears of the DHT, and nothing else") {
  guarded_kitchen k;
  auto& a = k.join(1, {gate}, 1);
  auto& b = k.join(2, {gate, 1}, 1);
  REQUIRE(k.train_together(a, b, 60s));
  const auto told = a.observer->events("join").size();
  stranger s{k.world, 5, {host(1), 1000}};
  s.say(introduction(5, k.soup.run()));
  progress_report report;
  report.id = peer(5);
  s.say(report);
  s.say(state_request{});
  group_cancel cancel;
  cancel.group.bytes.fill(1);
  s.say(cancel);
  s.say(routing_ping{});
  k.world.run_for(20s);
  CHECK_FALSE(s.closed);
  CHECK(s.count<routing_pong>() == 1);
  CHECK(s.count<refusal>() == 1); // One sentence, however much it says.
  CHECK(s.count<state_manifest>() == 0);
  CHECK(s.count<progress_report>() == 0);
  CHECK(s.count<group_invite>() == 0);
  CHECK(s.count<chunk_part>() + s.count<chunk_mean>() == 0);
  CHECK(s.bytes < 20'000);
  CHECK(faults(a, "not admitted").size() == 1);
  CHECK(a.observer->events("join").size() == told + 1); // As a node.

  SUBCASE("with somebody else's token") {
    s.say(admission_shown{k.kept(2).token});
    k.world.run_for(1s);
    CHECK(faults(a, "bad admission")
          == std::vector<std::string>{"it is for another peer's key"});
    s.say(state_request{});
    k.world.run_for(1s);
    CHECK(s.count<state_manifest>() == 0);
  }
  SUBCASE("with nonsense of control characters") {
    s.say(admission_shown{"\x1b[2J\u202e"});
    k.world.run_for(1s);
    CHECK(faults(a, "bad admission").size() == 1);
  }
  SUBCASE("with a token, it is a member from then on, until that ends") {
    const auto id = id_in(k.soup.run());
    const auto now = k.world.network.wall_ms();
    s.say(admission_shown{to_bytes(
        issue({id, peer(5), now, now + 20'000, {}}, *made_up(peer(gate))))});
    k.world.run_for(3s);
    CHECK(s.count<progress_report>() > 0);
    CHECK_FALSE(s.closed);
    k.world.run_for(30s);
    CHECK(s.closed);
    CHECK(s.count<refusal>() == 2);
  }
}

TEST_CASE("tokens are renewed as long as the authority is there") {
  guarded_kitchen k;
  auto& a = k.join(1, {gate}, 1);
  auto& b = k.join(2, {gate, 1}, 1);
  REQUIRE(k.train_together(a, b, 60s));
  k.world.run_for(std::chrono::milliseconds{5 * token_ms});
  CHECK(k.train_together(a, b, 10s));
  CHECK(a.observer->events("departure").empty());
  CHECK(faults(a, "refused us").empty());
  CHECK(faults(a, "bad admission").empty());
}

TEST_CASE("without the authority, members stay in by vouching for each other") {
  guarded_kitchen k;
  auto& a = k.join(1, {gate}, 1);
  auto& b = k.join(2, {gate, 1}, 1);
  REQUIRE(k.train_together(a, b, 60s));
  k.authority.reset();
  k.world.run_for(std::chrono::milliseconds{3 * token_ms});
  CHECK(k.train_together(a, b, 30s));
  CHECK_FALSE(a.observer->events("voucher").empty());

  // One that was in before comes back.
  b.leave();
  k.world.run_for(5s);
  REQUIRE_FALSE(k.kept(2).voucher.empty());
  auto& again = k.start(k.returning(2, {1}));
  CHECK(k.train_together(a, again, 60s));
  // Its voucher had not ended.
  CHECK(again.observer->events("admission").empty());

  // One that never was does not come in.
  auto late = k.newcomer(4, {1}, 1);
  late.manifests[k.soup.run()] = k.soup.to_bytes();
  auto& outside = k.start(std::move(late));
  k.world.run_for(60s);
  CHECK(outside.observer->events("step").empty());
  CHECK(faults(outside, "no admission").size() == 1);
}

TEST_CASE("one that is back while its token still counts shows its voucher") {
  guarded_kitchen k;
  auto& a = k.join(1, {gate}, 1);
  auto& b = k.join(2, {gate, 1}, 1);
  REQUIRE(k.train_together(a, b, 60s));
  k.authority.reset();
  for (int i = 0; i < 600 && k.kept(2).voucher.empty(); ++i)
    k.world.run_for(100ms);
  REQUIRE_FALSE(k.kept(2).voucher.empty());
  b.leave();
  auto& again = k.start(k.returning(2, {1}));
  k.world.run_for(std::chrono::milliseconds{2 * token_ms});
  CHECK(faults(again, "refused us").empty());
  CHECK(k.train_together(a, again, 60s));
}

TEST_CASE("when all come back with tokens that have ended, without the "
          "authority, they vouch for each other") {
  guarded_kitchen k;
  auto& a = k.join(1, {gate}, 1);
  auto& b = k.join(2, {gate, 1}, 1);
  REQUIRE(k.train_together(a, b, 60s));
  k.authority.reset();
  a.leave();
  b.leave();
  k.world.run_for(std::chrono::milliseconds{2 * token_ms});
  REQUIRE(k.kept(1).voucher.empty());
  auto& first = k.start(k.returning(1, {2}));
  auto& second = k.start(k.returning(2, {1}));
  CHECK(k.train_together(first, second, 60s));
}

TEST_CASE("an authority that has moved is found by its own word in the DHT") {
  guarded_kitchen k{false};
  auto& a = k.join(1, {gate}, 1);
  auto& b = k.join(2, {gate, 1}, 1);
  REQUIRE(k.train_together(a, b, 60s));
  k.authority.reset();
  // It does not know where they are: only another node leads to it.
  whole_peer other{k.world, [&] {
                     auto c = tiny_peer(k.world.network, 7, {1}, 1);
                     c.role = role::bootstrap;
                     c.run.clear();
                     return c;
                   }()};
  k.world.run_for(5s);
  k.open_gate(8, {7});
  k.world.run_for(std::chrono::milliseconds{2 * token_ms});
  CHECK(k.train_together(a, b, 60s));
  CHECK(faults(a, "not admitted").empty());
}

TEST_CASE("where the manifest takes no vouchers, all are out in the end") {
  guarded_kitchen k{false};
  auto& a = k.join(1, {gate}, 1);
  auto& b = k.join(2, {gate, 1}, 1);
  REQUIRE(k.train_together(a, b, 60s));
  k.authority.reset();
  k.world.run_for(std::chrono::milliseconds{2 * token_ms});
  CHECK(a.observer->events("voucher").empty());
  CHECK(a.observer->events("departure").size() > 0);
  // The authority comes back, and knows them.
  k.open_gate();
  CHECK(k.train_together(a, b, 120s));
}
