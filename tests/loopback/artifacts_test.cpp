/// Runs whose trainers need a file: it travels between processes.
#include "tests/loopback/scene.hpp"

#include <csignal>
#include <filesystem>

#include <doctest/doctest.h>

#include "actors/peer.hpp"
#include "runtime/identity/key_pair.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "tests/runtime/artifacts/made_artifact.hpp"
#include "tests/support/await.hpp"

using namespace potluck::loopback;
using nlohmann::json;
using potluck::artifact_folder;
using potluck::made_artifact;

namespace {

struct file_of_a_run {
  file_of_a_run(scene& s, std::size_t bytes)
      : made("model", bytes, 7), path(s.path("model.pt")) {
    potluck::write_file(path, made.bytes);
  }
  words option() const {
    return {"--artifact", "model=" + path};
  }
  std::string held(const std::string& directory) const {
    return potluck::read_file(
        artifact_folder{directory + "/artifacts"}.path_of(made.it.content));
  }

  made_artifact made;
  std::string path;
};

/// An auxiliary in this process that sends wrong pieces.
class liar {
public:
  liar(const std::string& seed, const file_of_a_run& file,
       const std::string& folder)
      : system_(config_), key_(potluck::key_pair::generate()) {
    potluck::peer_config c;
    c.self = key_.id();
    c.signs = potluck::signatures_of(key_);
    c.wall_clock = potluck::wall_clock_ms;
    c.role = potluck::role::auxiliary;
    c.run = "demo";
    c.listen = {"127.0.0.1", 0};
    c.seeds = {*potluck::parse_address(seed)};
    c.make_transport
        = [key = key_] { return potluck::make_uv_transport({key}); };
    c.artifacts_folder = folder;
    c.own_artifacts = {{"model", file.path}};
    c.bend_artifact = [this](potluck::shared_bytes& bytes) {
      ++lies;
      bytes = potluck::shared(std::string(bytes.size, 'x'));
    };
    c.shows_status = false;
    c.seed = 5;
    observer_ = system_.spawn(
        [this]() -> potluck::observer_actor::behavior_type {
          return {
              [this](const potluck::event& x) { ready += x.name == "charter"; },
              [](const potluck::run_status&) {},
              [](const potluck::peer_over&) {},
          };
        });
    peer_ = potluck::spawn_peer(system_, c, observer_);
  }
  ~liar() {
    caf::anon_send(peer_, potluck::leave_run{"enough"});
    caf::scoped_actor self{system_};
    self->wait_for(peer_);
    caf::anon_send_exit(observer_, caf::exit_reason::user_shutdown);
  }
  std::string name() const {
    return potluck::short_name(key_.id());
  }

  std::atomic<int> ready{0};
  std::atomic<int> lies{0};

private:
  caf::actor_system_config config_;
  caf::actor_system system_;
  potluck::key_pair key_;
  potluck::observer_actor observer_;
  potluck::peer_actor peer_;
};

words demo(const std::string& at) {
  return words{"--run", "demo", "--peer", at} + tiny_run(64, 1000000);
}

} // namespace

TEST_CASE("an artifact comes from several donors, of which one lies and one "
          "leaves") {
  scene s;
  const file_of_a_run file{s, 24u << 20};
  auto& a = s.join("a", words{"--run", "demo"} + tiny_run(64, 1000000)
                            + file.option());
  a.await("charter");
  auto& b = s.join("b", demo(a.address()));
  const auto news = b.await("artifact");
  CHECK(news.at("name") == "model");
  CHECK(file.held(s.path("b")) == file.made.bytes);
  liar bad{a.address(), file, s.path("liar")};
  REQUIRE(
      potluck::support::await([&] { return bad.ready > 0; }, startup_patience));
  auto& c = s.join("c", demo(a.address()) + words{"--max-download", "20mbit"});
  c.await("artifact_progress");
  CHECK(c.log.named("step").empty());
  b.process.signal(SIGINT);
  c.await("artifact");
  CHECK(file.held(s.path("c")) == file.made.bytes);
  CHECK(bad.lies > 0);
  const auto faults = c.log.named("fault");
  CHECK(std::count_if(faults.begin(), faults.end(),
                      [&](const json& x) {
                        return x.at("what") == "wrong artifact"
                               && x.at("peer") == bad.name();
                      })
        == 1);
  check_agree(a, c, 3);
}

TEST_CASE("an artifact of a created run comes from the organiser's bootstrap, "
          "once") {
  scene s;
  const file_of_a_run file{s, 3u << 20};
  auto settings = tiny_run(64, 1000000);
  settings.erase(std::find(settings.begin(), settings.end(), "--micro-batch"),
                 std::find(settings.begin(), settings.end(), "--target-batch"));
  const words create{"create", "poems", "--identity-dir", s.path("hub")};
  auto made = s.run(
      "create", create + words{"--announce", "127.0.0.1:9", "--data", s.text()}
                    + settings + file.option());
  REQUIRE(made.status == 0);
  auto& hub = s.start("hub", {"bootstrap", "--run", "poems", "--listen",
                              "127.0.0.1:0", "--identity-dir", s.path("hub"),
                              "--log-json", s.path("hub.jsonl")});
  made = s.run("invite", create + words{"--announce", hub.address()});
  REQUIRE(made.status == 0);
  made.output.pop_back();
  const words join{made.output.substr(made.output.rfind('\n') + 1),
                   "--micro-batch", "4"};

  auto& small = s.join("small", join + words{"--max-artifacts", "2MB"});
  const auto end = small.process.wait(startup_patience);
  REQUIRE(end);
  INFO(small.process.output());
  CHECK(end->status == 2);
  CHECK(small.process.output().find("max-artifacts allows 2 MB")
        != std::string::npos);

  auto& first = s.join("a", join);
  first.await("artifact");
  first.await_step(2);
  CHECK(file.held(s.path("a")) == file.made.bytes);
  first.process.signal(SIGINT);
  REQUIRE(first.process.wait(startup_patience));
  // It lies in its folder now.
  auto& again = s.join("again", join + words{"--identity-dir", s.path("a")});
  again.await_step(1);
  CHECK(again.log.named("artifact").empty());

  const auto wrong = s.run("wrong", create + words{"--announce", "127.0.0.1:9"}
                                        + file.option());
  CHECK(wrong.status == 2);
  CHECK(wrong.output.find("never changes") != std::string::npos);
}

TEST_CASE("a mistake with an artifact is one sentence") {
  scene s;
  const file_of_a_run file{s, 1000};
  potluck::write_file(s.path("empty"), "");
  const words join{"join",   "--run",          "demo",     "--data",
                   s.text(), "--identity-dir", s.path("a")};
  for (const auto& [said, answer] :
       {std::pair<words, std::string>{{"--artifact", file.path},
                                      "write NAME=FILE"},
        {{"--artifact", "model=" + s.path("none")}, "cannot read"},
        {{"--artifact", "model=" + s.path("empty")}, "has no bytes"},
        {{"--artifact", "Model=" + file.path}, "small letters"},
        {file.option() + file.option(), "twice"},
        {{"--max-artifacts", "few"}, "--max-artifacts"}}) {
    const auto x = s.run("mistaken", join + said);
    CAPTURE(x.output);
    CAPTURE(answer);
    CHECK(x.status == 2);
    CHECK(x.output.find(answer) != std::string::npos);
  }
}
