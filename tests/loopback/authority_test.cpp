/// Runs whose organiser admits not everybody: `potluck authority`.
#include "tests/loopback/scene.hpp"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "messages/codec.hpp"
#include "runtime/admission/admission_claim.hpp"
#include "runtime/manifest/invitation.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tests/support/await.hpp"

using namespace potluck::loopback;
using nlohmann::json;

namespace {

/// Of `tiny_run`, what a charter has.
words run_of_64() {
  auto all = tiny_run(64, 1000000);
  auto micro = std::find(all.begin(), all.end(), "--micro-batch");
  all.erase(micro, micro + 2);
  return all;
}

std::string last_line(const std::string& output) {
  auto text = output.substr(0, output.size() - 1);
  return text.substr(text.rfind('\n') + 1);
}

/// A run with its authority, in the identity directory "gate".
struct closed_run {
  explicit closed_run(const words& more = {}) {
    // A port that is free, and the id of who will listen there.
    auto& first = s.start("first", {"bootstrap", "--listen", "127.0.0.1:0",
                                    "--identity-dir", s.path("gate"),
                                    "--log-json", s.path("first.jsonl")});
    where = first.address();
    first.process.signal(SIGTERM);
    REQUIRE(first.process.wait(startup_patience));
    auto made = s.run(
        "create", words{"create", "poems", "--identity-dir", s.path("gate"),
                        "--authority", where, "--data", s.text()}
                      + run_of_64()
                      + (more.empty() ? words{"--admission", "token"} : more));
    CAPTURE(made.output);
    REQUIRE(made.status == 0);
    bare = last_line(made.output);
    REQUIRE(bare.find("potluck:") == 0);
  }

  peer& serve(const words& more = {}) {
    const auto name = "gate-" + std::to_string(++served);
    return s.start(name, words{"authority", "--run", "poems", "--listen", where,
                               "--identity-dir", s.path("gate"), "--log-json",
                               s.path(name + ".jsonl")}
                             + more);
  }
  scene::result ask(const words& more) {
    return s.run("desk", words{"authority"} + more
                             + words{"--run", "poems", "--identity-dir",
                                     s.path("gate")});
  }
  std::string invite(const std::string& uses) {
    auto x = ask({"invite", "--uses", uses});
    CAPTURE(x.output);
    REQUIRE(x.status == 0);
    return last_line(x.output);
  }
  peer& join(const std::string& name, const std::string& invitation,
             const words& more = {}) {
    return s.join(name, words{invitation, "--micro-batch", "4"} + more);
  }

  scene s;
  std::string where;
  std::string bare; ///< The invitation without a code.
  int served = 0;
};

/// The sentence with which the peer ended, as a user's mistake.
std::string refusal_of(peer& who) {
  auto end = who.process.wait(startup_patience);
  INFO(who.process.output());
  REQUIRE(end);
  CHECK(end->status == 2);
  CHECK(who.log.named("step").empty());
  CHECK(who.log.named("state_download").empty());
  return who.process.output();
}

bool says(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

/// A peer with a key of its own that does nothing but ask for tokens.
class asker : public potluck::transport_listener {
public:
  explicit asker(const potluck::invitation& to)
      : run_(to.run()), net_(potluck::make_uv_transport({key_})) {
    claim_.code = to.code;
    net_->start(std::shared_ptr<transport_listener>{this, [](auto*) {}});
    line_ = net_->dial(to.authority.where, to.authority.id);
  }
  ~asker() override {
    net_->stop();
  }
  void on_accepted(potluck::connection_id, const potluck::address&,
                   const potluck::peer_id&) override {
  }
  void on_connected(potluck::connection_id id, const potluck::address&,
                    const potluck::peer_id&) override {
    line_ = id;
    potluck::hello x;
    x.id = key_.id();
    x.run = run_;
    say(x);
    ask();
  }
  void on_frame(potluck::connection_id,
                potluck::incoming_frame frame) override {
    auto x = potluck::decode(frame.head.data(), frame.head.size(),
                             frame.body.size);
    if (auto reply = x ? std::get_if<potluck::admission_reply>(&*x) : nullptr)
      (reply->admission.empty() ? refused : granted)++;
  }
  void on_closed(potluck::connection_id, const std::string&) override {
    ++refused;
  }
  void ask() {
    say(potluck::admission_request{1, run_, to_bytes(claim_)});
  }

  std::atomic<int> granted{0};
  std::atomic<int> refused{0};

private:
  void say(const potluck::message& x) {
    net_->send(line_, {potluck::encode(x), {}});
  }

  const potluck::key_pair key_ = potluck::key_pair::generate();
  const std::string run_;
  potluck::admission_claim claim_;
  std::unique_ptr<potluck::transport> net_;
  std::atomic<potluck::connection_id> line_{0};
};

/// It has kept the other's voucher.
bool is_vouched_for(potluck::loopback::peer& who, potluck::loopback::peer& by) {
  const auto all = who.log.named("admission");
  return std::any_of(all.begin(), all.end(), [&](const auto& x) {
    return by.id().compare(0, 8, std::string{x.at("by")}) == 0;
  });
}

/// Of all children that have been waited for.
double processor_seconds() {
  rusage x{};
  ::getrusage(RUSAGE_CHILDREN, &x);
  auto in_seconds
      = [](const timeval& t) { return double(t.tv_sec) + t.tv_usec / 1e6; };
  return in_seconds(x.ru_utime) + in_seconds(x.ru_stime);
}

} // namespace

TEST_CASE("two train by invitation, a third without a code gets nothing, and "
          "members outlive the authority") {
  closed_run r;
  auto& gate = r.serve({"--token-life", "20s"});
  gate.await("listening");
  const auto invitation = r.invite("2");
  CHECK(invitation != r.bare);
  auto& a = r.join("a", invitation);
  a.await("admission");
  auto& b = r.join("b", invitation);
  check_agree(a, b, 3);

  CHECK(says(refusal_of(r.join("c", r.bare)), "has nobody of this key"));
  CHECK(says(refusal_of(r.join("d", invitation)), "as often as it may"));
  CHECK_FALSE(std::filesystem::exists(r.s.path("c") + "/poems.checkpoint"));
  for (auto name : {"c", "d"})
    for (auto& file : std::filesystem::directory_iterator(r.s.path(name)))
      CHECK(file.path().extension() != ".checkpoint");

  gate.process.signal(SIGKILL);
  gate.process.wait(startup_patience);
  // Neither has a token of it any more by then.
  auto vouched = [&] { return is_vouched_for(a, b) && is_vouched_for(b, a); };
  CHECK(potluck::support::await(vouched, startup_patience));
  check_agree(a, b, 3, b.log.lines().size());

  // Whoever was there before comes back by the voucher that it has kept, and
  // nobody else comes.
  b.process.signal(SIGKILL);
  b.process.wait(startup_patience);
  auto& again
      = r.s.join("b2", {invitation, "--micro-batch", "4", "--identity-dir",
                        r.s.path("b"), "--peer", a.id() + "@" + a.address()});
  // Until then each had trained alone.
  auto one_again = [&] {
    const auto of_a = a.digests(), of_b = again.digests();
    for (auto x = of_b.rbegin(); x != of_b.rend(); ++x)
      if (auto y = of_a.find(x->first); y != of_a.end())
        return x->second == y->second;
    return false;
  };
  CHECK(potluck::support::await(one_again, startup_patience));
  check_agree(a, again, 3, again.log.lines().size());
  CHECK(again.log.named("admission").empty());

  // What it had granted it knows after its crash.
  auto& back = r.serve({"--token-life", "20s"});
  back.await("listening");
  auto list = r.ask({"list"});
  CHECK(says(list.output, a.id()));
  CHECK(says(list.output, b.id()));
  CHECK(says(list.output, "code"));
}

TEST_CASE(
    "with the authority and every bootstrap killed, members train on, and "
    "come back by what they have kept") {
  closed_run r;
  auto& gate = r.serve({"--token-life", "20s"});
  gate.await("listening");
  auto& hub = r.s.bootstrap();
  const auto invitation = r.invite("2");
  const auto member
      = [&](const std::string& name, const std::string& folder) -> peer& {
    return r.join(name, invitation,
                  {"--peer", hub.id() + "@" + hub.address(), "--identity-dir",
                   r.s.path(folder)});
  };
  auto& a = member("a", "a");
  auto& b = member("b", "b");
  check_agree(a, b, 3);
  for (auto* x : {&gate, &hub}) {
    x->process.signal(SIGKILL);
    REQUIRE(x->process.wait(startup_patience));
  }
  check_agree(a, b, 3, b.log.lines().size());

  // By its token, on the port that it had. Whoever has dialled the other has
  // kept where that is.
  const auto knows = [&](const std::string& folder, const std::string& where) {
    for (auto& file : std::filesystem::directory_iterator(r.s.path(folder)))
      if (file.path().extension() == ".peers") {
        std::ifstream in{file.path()};
        const std::string text{std::istreambuf_iterator<char>{in}, {}};
        if (says(text, where))
          return true;
      }
    return false;
  };
  const auto where_a = a.address();
  const auto where_b = b.address();
  REQUIRE(potluck::support::await(
      [&] {
        return knows("a", "port ") && knows("b", "port ")
               && (knows("a", where_b) || knows("b", where_a));
      },
      startup_patience));
  b.process.signal(SIGKILL);
  REQUIRE(b.process.wait(startup_patience));
  auto& b2 = member("b2", "b");
  check_agree(a, b2, 3, 0, a.log.lines().size());

  // By vouchers, with nobody there to begin with.
  const auto vouched
      = [&] { return is_vouched_for(a, b2) && is_vouched_for(b2, a); };
  REQUIRE(potluck::support::await(vouched, startup_patience));
  check_agree(a, b2, 3, b2.log.lines().size(), a.log.lines().size());
  for (auto* x : {&a, &b2}) {
    x->process.signal(SIGKILL);
    REQUIRE(x->process.wait(startup_patience));
  }
  auto& a3 = member("a3", "a");
  auto& b3 = member("b3", "b");
  check_agree(a3, b3, 3);
}

TEST_CASE("an organiser amends a closed run without an admission of the "
          "authority") {
  closed_run r;
  r.serve().await("listening");
  const auto invitation = r.invite("2");
  auto& a = r.join("a", invitation);
  auto& b = r.join("b", invitation, {"--peer", a.id() + "@" + a.address()});
  check_agree(a, b, 3);
  const auto amend = [&](const words& what) {
    return r.s.run("amend",
                   words{"amend", r.bare, "--identity-dir", r.s.path("gate"),
                         "--peer", a.id() + "@" + a.address()}
                       + what);
  };
  // It hears from trainers how far they are.
  auto paused = amend({"pause"});
  CAPTURE(paused.output);
  REQUIRE(paused.status == 0);
  CHECK(says(paused.output, "peers say so"));
  CHECK(says(paused.output, "hold it"));
  for (auto* x : {&a, &b})
    CHECK(x->await("amendment").at("number") == 1);
  CHECK(amend({"resume"}).status == 0);
  for (auto& fault : a.log.named("fault"))
    CHECK(fault.at("what") != "bad admission");

  // From here on everybody gets in, and then nobody more.
  CHECK(amend({"admission", "open"}).status == 0);
  auto& c = r.join("c", r.bare, {"--peer", a.id() + "@" + a.address()});
  check_agree(a, c, 3);
  CHECK(amend({"admission", "token"}).status == 0);
  const auto alone = [&] {
    const auto steps = a.log.named("step");
    return !steps.empty() && steps.back().at("peers") == 2;
  };
  CHECK(potluck::support::await(alone, startup_patience));
}

TEST_CASE("a list, a delegation and a program let in whom they mean") {
  closed_run r{{"--admission", "list"}};
  const auto script = r.s.path("log-in");
  std::ofstream{script} << "#!/bin/sh\nread id; read word; [ \"$word\" = "
                           "sesame ]\n";
  ::chmod(script.c_str(), 0700);
  r.serve({"--ask", script}).await("listening");

  const auto none = r.ask({"invite"});
  CHECK(none.status == 2);
  CHECK(says(none.output, "admits by its list"));
  // Ann is on the list, with a machine that only she names.
  auto ids = r.s.run("ann", {"delegate", "--identity-dir", r.s.path("ann")});
  REQUIRE(ids.status == 0);
  const auto at = ids.output.find("the person ") + 11;
  const auto person = ids.output.substr(at, 64);
  CHECK(r.ask({"allow", person}).status == 0);
  auto machine = r.s.run("pc", {"delegate", "--identity-dir", r.s.path("pc")});
  auto signed_for = r.s.run("sign", {"delegate", machine.output.substr(16, 64),
                                     "--identity-dir", r.s.path("ann")});
  CAPTURE(signed_for.output);
  REQUIRE(signed_for.status == 0);
  const auto delegation = last_line(signed_for.output);
  auto& pc = r.join("pc", r.bare, {"--delegation", delegation});
  pc.await_step(1);
  CHECK(says(refusal_of(r.join("other", r.bare, {"--delegation", delegation})),
             "--delegation: it is for machine"));

  std::ofstream{r.s.path("right")} << "sesame\n";
  std::ofstream{r.s.path("wrong")} << "simsim\n";
  r.join("pupil", r.bare, {"--claim", r.s.path("right")}).await_step(1);
  CHECK(
      says(refusal_of(r.join("guess", r.bare, {"--claim", r.s.path("wrong")})),
           "did not let this peer in"));
}

TEST_CASE("a mistake with an authority is one sentence") {
  closed_run r;
  const words create{"create", "verse",    "--identity-dir", r.s.path("gate"),
                     "--data", r.s.text(), "--announce",     "127.0.0.1:9"};
  const words desk{"authority", "--identity-dir", r.s.path("gate")};
  const words other{"authority", "--identity-dir", r.s.path("elsewhere")};
  const words trial{"join", "--data", r.s.text(), "--run", "prose"};
  for (auto& [said, answer] : {
           std::pair<words, std::string>{create + words{"--admission", "token"},
                                         "needs an authority"},
           {create + words{"--authority", "7@h:1"}, "64 hex digits"},
           {create + words{"--admission", "all"}, "must be one of"},
           {trial + words{"--admission", "token"}, "a trial admits everybody"},
           {desk, "--run RUN"},
           {desk + words{"dance", "--run", "poems"}, "nothing that an"},
           {desk + words{"invite"}, "--run RUN"},
           {desk + words{"invite", "--run", "prose"}, "a trial admits"},
           {desk + words{"invite", "--run", "poems", "--until", "soon"},
            "no length of time"},
           {desk + words{"allow", "7", "--run", "poems"}, "64 hex digits"},
           {desk + words{"revoke", std::string(64, '7'), "--run", "poems"},
            "was not admitted"},
           {desk + words{"--run", "poems", "--token-life", "2d"},
            "24h at most"},
           {other + words{"--run", r.bare}, "and this identity is"},
           {{"delegate", "7", "--identity-dir", r.s.path("a")}, "64 hex"},
           {{"join", r.bare, "--data", r.s.text(), "--claim", "/nowhere",
             "--identity-dir", r.s.path("a")},
            "must be a file"},
       }) {
    auto x = r.s.run("mistaken", said);
    CAPTURE(x.output);
    CAPTURE(answer);
    CHECK(x.status == 2);
    CHECK(says(x.output, answer));
  }
}

TEST_CASE("an authority renews 500 tokens a second over open connections, with "
          "one core") {
  closed_run r;
  auto& gate = r.serve();
  gate.await("listening");
  const auto to = potluck::read_invitation(r.invite("0"));
  REQUIRE(to);
  constexpr int peers = 8;
  constexpr int renewals = 500;
  const auto before = processor_seconds();
  std::vector<std::unique_ptr<asker>> all;
  for (int i = 0; i < peers; ++i)
    all.push_back(std::make_unique<asker>(*to));
  auto granted = [&](int each) {
    return std::all_of(all.begin(), all.end(),
                       [&](auto& x) { return x->granted >= each; });
  };
  REQUIRE(
      potluck::support::await([&] { return granted(1); }, startup_patience));
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < renewals; ++i)
    for (auto& x : all)
      x->ask();
  REQUIRE(potluck::support::await([&] { return granted(1 + renewals); },
                                  run_patience));
  const std::chrono::duration<double> passed
      = std::chrono::steady_clock::now() - began;
  for (auto& x : all)
    CHECK(x->refused == 0);
  gate.process.signal(SIGTERM);
  REQUIRE(gate.process.wait(startup_patience));
  const auto spent = processor_seconds() - before;
  MESSAGE("renewals a second: " << peers * renewals / passed.count()
                                << "; of processor time: "
                                << peers * renewals / spent);
  CHECK(peers * renewals / spent > 500);
}
