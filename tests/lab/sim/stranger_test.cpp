#include "tools/lab/sim/strangers/stranger.hpp"

#include <doctest/doctest.h>

#include <set>

#include "messages/codec.hpp"
#include "runtime/dht/notary.hpp"
#include "tools/lab/network/made_up_signatures.hpp"
#include "tools/lab/scenario/scenario.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using simulation::stranger;
using simulation::stranger_config;

namespace {

constexpr std::uint64_t some_time = 1'700'000'000'000;

/// What one identity of a stranger does with its transport.
struct wire {
  peer_id who;
  std::shared_ptr<transport_listener> listener;
  std::vector<address> dialled;
  std::vector<std::pair<connection_id, outgoing_frame>> sent;
  bool stopped = false;
};
using wires = std::vector<std::shared_ptr<wire>>;

class fake_transport : public transport {
public:
  explicit fake_transport(std::shared_ptr<wire> to) : to_(std::move(to)) {
  }
  void start(std::shared_ptr<transport_listener> x) override {
    to_->listener = std::move(x);
  }
  expected<address> listen(const address& where) override {
    return where;
  }
  connection_id dial(const address& where, const peer_id&) override {
    to_->dialled.push_back(where);
    return to_->dialled.size();
  }
  void send(connection_id id, outgoing_frame x) override {
    to_->sent.emplace_back(id, std::move(x));
  }
  void close(connection_id, std::uint32_t) override {
  }
  transport_traffic traffic() const override {
    return {};
  }
  void stop() override {
    to_->stopped = true;
  }

private:
  std::shared_ptr<wire> to_;
};

peer_id a_member() {
  peer_id x;
  x.bytes.fill(7);
  return x;
}

progress_report members_report() {
  progress_report x;
  x.id = a_member();
  x.where = {"11.0.0.1", 31337};
  x.charter.bytes.fill(1);
  x.state.bytes.fill(2);
  x.phase = phase::accumulating;
  x.step = 12;
  x.history_samples = 3000;
  return x;
}

/// A stranger that has met one member of a run.
struct meeting {
  explicit meeting(const std::string& manner, std::size_t identities = 1) {
    stranger_config c;
    c.manner = manner;
    c.identities = identities;
    c.until = 60s;
    c.run = "a run";
    c.targets = {{"11.0.0.1", 31337}};
    c.listen = {"11.0.9.1", 31337};
    c.new_key
        = [](random_stream& chance) { return made_up(chance.draw<peer_id>()); };
    c.make_transport = [this](const peer_id& who) {
      lines.push_back(std::make_shared<wire>());
      lines.back()->who = who;
      return std::make_unique<fake_transport>(lines.back());
    };
    c.wall_clock = [] { return some_time; };
    it = std::make_unique<stranger>(std::move(c));
    it->run(0s);
    for (std::size_t i = 0; i < identities; ++i)
      if (!lines[i]->dialled.empty())
        lines[i]->listener->on_connected(1, {"11.0.0.1", 31337}, a_member());
    hear(hello_of_a_member());
    hear(members_report());
    records_found known;
    known.records = {record_of_a_member()};
    hear(known);
  }

  static hello hello_of_a_member() {
    hello x;
    x.id = a_member();
    x.run = "a run";
    x.charter.bytes.fill(1);
    return x;
  }
  static dht_record record_of_a_member() {
    dht_record x{key_of("run/a run"), std::string(32, '\7'),
                 encode_progress(members_report()), 15000,
                 record_kind::progress};
    notary its{made_up(a_member())};
    its.clocks(some_time, some_time);
    its.seal(x);
    return x;
  }

  void hear(const message& x) {
    for (auto& line : lines)
      if (!line->dialled.empty())
        line->listener->on_frame(1, {encode(x), {}});
    it->run(now += 1ms);
  }
  void let_pass(duration x) {
    it->run(now += x);
  }
  /// All that it has said and peers can read, of one kind.
  template <class T>
  std::vector<T> said() const {
    std::vector<T> result;
    for (auto& line : lines)
      for (auto& [id, frame] : line->sent)
        if (auto x
            = decode(frame.head.data(), frame.head.size(), frame.body.size))
          if (auto y = std::get_if<T>(&*x))
            result.push_back(*y);
    return result;
  }
  std::vector<dht_record> records() const {
    std::vector<dht_record> result;
    for (auto& letter : said<store_records>())
      result.insert(result.end(), letter.records.begin(), letter.records.end());
    return result;
  }

  wires lines;
  std::unique_ptr<stranger> it;
  duration now{0};
};

notary::verdict judged(dht_record x) {
  notary anybody{made_up(peer_id{})};
  anybody.clocks(some_time, some_time);
  return anybody.judge(x);
}

} // namespace

TEST_CASE("every manner of strangers can be had, others are refused") {
  for (const auto& x : stranger_manners()) {
    CAPTURE(x.name);
    meeting m{x.name, 2};
    m.let_pass(10s);
    CHECK_FALSE(m.it->stopped());
    CHECK(m.it->wake());
    m.let_pass(60s);
    CHECK(m.it->stopped());
    CHECK_FALSE(m.it->wake());
    for (auto& line : m.lines)
      CHECK(line->stopped);
  }
  CHECK_THROWS(meeting{"kindness"});
}

TEST_CASE("a stranger says hello as itself, and dials again and again") {
  meeting m{"identities"};
  const auto hellos = m.said<hello>();
  REQUIRE(hellos.size() == 1);
  CHECK(hellos[0].id == m.lines[0]->who);
  CHECK(hellos[0].run == "a run");
  m.hear(heartbeat{5});
  REQUIRE(m.said<heartbeat_reply>().size() == 1);
  CHECK(m.said<heartbeat_reply>()[0].token == 5);
  CHECK(m.lines[0]->dialled.size() == 1);
  m.lines[0]->listener->on_closed(1, "go away");
  m.let_pass(1ms);
  CHECK(m.lines[0]->dialled.size() == 1);
  m.let_pass(2s);
  CHECK(m.lines[0]->dialled.size() == 2);
}

TEST_CASE("who is idle or mute says nothing at all") {
  meeting m{"idle", 2};
  m.let_pass(10s);
  for (auto& line : m.lines)
    CHECK(line->sent.empty());
}

TEST_CASE("what strangers invent is sealed by keys of their own") {
  for (auto manner : {"finishers", "phantoms", "names_others"}) {
    CAPTURE(manner);
    meeting m{manner};
    m.let_pass(2s);
    const auto all = m.records();
    CHECK(all.size() >= 10);
    std::set<std::string> owners;
    for (const auto& x : all) {
      CHECK(judged(x) == notary::verdict::sound);
      owners.insert(decode_progress(x.value)->where.host);
    }
    if (manner != std::string{"names_others"})
      CHECK(owners == std::set<std::string>{"11.0.9.1"});
    else
      CHECK(owners.count("11.0.0.1") == 1);
  }
}

TEST_CASE("an impersonator replays what is sound, and forges the rest") {
  meeting m{"impersonator"};
  m.let_pass(2s);
  std::set<notary::verdict> verdicts;
  for (const auto& x : m.records())
    verdicts.insert(judged(x));
  CHECK(verdicts
        == std::set<notary::verdict>{notary::verdict::sound,
                                     notary::verdict::ill_typed,
                                     notary::verdict::forged});
}

TEST_CASE("a long history is served with everything that a state has") {
  meeting m{"long_history"};
  m.let_pass(1s);
  const auto reports = m.said<progress_report>();
  REQUIRE_FALSE(reports.empty());
  CHECK(reports.back().history_samples > 1'000'000'000);
  m.hear(state_request{9, reports.back().step, reports.back().state, false,
                       false});
  const auto manifests = m.said<state_manifest>();
  REQUIRE(manifests.size() == 1);
  CHECK(manifests[0].available);
  CHECK(manifests[0].token == 9);
  CHECK(manifests[0].state == reports.back().state);
  m.hear(piece_request{manifests[0].state, 0, false, 0});
  CHECK(m.said<state_piece>().size() == 1);
}

TEST_CASE("who claims 2^40 samples or great lines accepts all invitations") {
  for (auto manner : {"big_claim", "auxiliaries"}) {
    CAPTURE(manner);
    meeting m{manner};
    group_invite to;
    to.group.bytes.fill(3);
    to.state.bytes.fill(4);
    m.hear(to);
    const auto answers = m.said<group_answer>();
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].accepted);
    CHECK((answers[0].samples > 0) == (manner == std::string{"big_claim"}));
  }
}

namespace {

group_invite an_invitation() {
  group_invite x;
  x.group.bytes.fill(3);
  x.state.bytes.fill(4);
  return x;
}

group_contract a_contract() {
  group_contract x;
  x.group = an_invitation().group;
  x.gradient_values = x.chunk_values = x.patience_ms = 1;
  x.least_samples = 1;
  x.plan.bytes.fill(5);
  group_member m;
  m.who = {a_member(), {"11.0.0.1", 31337}};
  m.samples = 1;
  x.members = {m};
  return x;
}

} // namespace

TEST_CASE("who holds steps up is level with the others, under a small id") {
  for (auto manner : {"never_leads", "empty_handed", "false_leaders"}) {
    CAPTURE(manner);
    meeting m{manner};
    CHECK(m.lines[0]->who.bytes[0] < 64); // Of 64 keys.
    auto reports = m.said<progress_report>();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].step == members_report().step);
    auto next = members_report();
    ++next.step;
    ++next.history_samples;
    m.hear(next);
    reports = m.said<progress_report>();
    REQUIRE(reports.size() == 2);
    CHECK(reports[1].step == next.step);
    m.hear(an_invitation());
    CHECK(m.said<group_answer>().size()
          == (manner == std::string{"empty_handed"} ? 1 : 0));
    CHECK(m.said<group_invite>().size()
          == (manner == std::string{"false_leaders"} ? 2 : 0));
  }
}

TEST_CASE("who steps back accepts first, at once or as late as it can") {
  for (auto manner : {"turncoats", "last_moment"}) {
    CAPTURE(manner);
    const bool late = manner == std::string{"last_moment"};
    meeting m{manner};
    m.hear(an_invitation());
    CHECK(m.said<group_answer>().size() == (late ? 0 : 1));
    m.let_pass(2s);
    REQUIRE(m.said<group_answer>().size() == 1);
    CHECK(m.said<group_answer>()[0].accepted);
    group_start begun;
    begun.contract = a_contract();
    m.hear(begun);
    REQUIRE(m.said<group_answer>().size() == 2);
    CHECK_FALSE(m.said<group_answer>()[1].accepted);
  }
}

TEST_CASE("who takes a fresh key leaves the one before") {
  meeting m{"fresh_keys", 2};
  std::set<peer_id> said;
  for (auto pause : {5s, 10s}) {
    const auto before = m.said<progress_report>().size();
    m.let_pass(pause);
    const auto all = m.said<progress_report>();
    std::set<peer_id> now;
    for (auto j = before; j < all.size(); ++j)
      now.insert(all[j].id);
    CHECK(now.size() == 1);
    said.insert(now.begin(), now.end());
  }
  CHECK(said.size() == 2);
}

TEST_CASE("most of what a mutator says can be read, and some cannot") {
  meeting m{"mutator"};
  std::size_t sent = 0, read = 0;
  m.let_pass(30s);
  for (auto& [id, frame] : m.lines[0]->sent) {
    ++sent;
    read += bool{decode(frame.head.data(), frame.head.size(), frame.body.size)};
  }
  CHECK(sent > 200);
  CHECK(read > sent / 2);
  CHECK(read < sent);
}
