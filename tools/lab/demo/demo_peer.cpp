#include "tools/lab/demo/demo_peer.hpp"

#include <csignal>
#include <fstream>

#include "runtime/state/checkpoint.hpp"

namespace potluck::tools {

double speed_of(const logged_event& step) {
  auto seconds = step.number("seconds");
  return seconds > 0 ? step.number("samples") / seconds : peer_view::unknown;
}

demo_peer::demo_peer(child_process process, std::string base)
    : process_(std::move(process)), base_(std::move(base)),
      tail_(base_ + ".jsonl") {
}

expected<demo_peer> demo_peer::start(const child_group& family,
                                     const std::string& directory,
                                     const std::string& name,
                                     const std::string& role,
                                     std::vector<std::string> words) {
  auto base = directory + "/" + name;
  words.push_back("--log-json=" + base + ".jsonl");
  auto process = family.start(words, base + ".out");
  if (!process)
    return failure{process.error()};
  demo_peer result{std::move(*process), base};
  result.view_.name = name;
  result.view_.role = role;
  result.view_.phase = "starting";
  result.record_.name = name;
  result.record_.role = role;
  return result;
}

std::vector<logged_event> demo_peer::news() {
  auto result = tail_.news();
  for (const auto& x : result) {
    look_at(x);
    record_.events.push_back(x);
  }
  return result;
}

void demo_peer::look_at(const logged_event& x) {
  if (x.name == "listening") {
    view_.phase = view_.role == "bootstrap" ? "listening" : "joining";
  } else if (x.name == "charter") {
    view_.phase = record_.role == "trainer" ? "loading" : "waiting";
  } else if (x.name == "plan") {
    view_.phase = "averaging";
    view_.peers = x.count("members");
  } else if (x.name == "round") {
    view_.phase = record_.role == "trainer" ? "training" : "waiting";
    if (record_.role != "trainer" && x.text("outcome") == "committed")
      view_.step = x.count("step");
  } else if (x.name == "state_download") {
    view_.phase = "training";
    view_.step = x.count("step");
  } else if (x.name == "step") {
    view_.phase = "training";
    view_.step = x.count("step");
    view_.loss = x.number("loss");
    view_.share = x.number("share");
    view_.samples_per_second = view_.share * speed_of(x);
    view_.peers = x.count("peers");
  } else if (x.name == "finished") {
    view_.phase = "finished";
  }
}

bool demo_peer::running() {
  auto end = process_.end();
  if (!end)
    return true;
  if (record_.end == life_record::how::killed)
    return false;
  view_.phase = end->well() ? "finished" : "failed";
  if (!end->well())
    blame(to_string(*end) + last_words());
  return false;
}

void demo_peer::kill() {
  process_.signal(SIGKILL);
  record_.end = life_record::how::killed;
  view_.phase = "killed";
}

void demo_peer::stop() {
  process_.signal(SIGTERM);
}

void demo_peer::mark_late() {
  record_.late = true;
}

void demo_peer::blame(const std::string& trouble) {
  if (record_.trouble.empty())
    record_.trouble = trouble;
}

void demo_peer::read_checkpoint() {
  if (auto saved = load_checkpoint(checkpoint_path()))
    record_.checkpoint = saved_state{saved->state.step,
                                     to_string(digest_of_state(saved->state))};
}

/// The last line of what it printed, for a sentence about its end.
std::string demo_peer::last_words() const {
  std::ifstream in{base_ + ".out"};
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (!line.empty())
      last = line;
  return last.empty() ? "" : ", saying: " + last;
}

} // namespace potluck::tools
