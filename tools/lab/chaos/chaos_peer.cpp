#include "tools/lab/chaos/chaos_peer.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;

/// A slow peer's turns: short against every deadline, long against a switch.
constexpr auto round_of_turns = 400ms;
/// A peer promises to be gone in two seconds; a busy machine takes longer.
constexpr auto leave_patience = 10s;

/// Bytes that the process ever held at once; 0 when that is not known.
std::uint64_t peak_memory(pid_t id) {
  std::ifstream in{"/proc/" + std::to_string(id) + "/status"};
  std::string word;
  std::uint64_t kilobytes = 0;
  while (in >> word)
    if (word == "VmHWM:" && in >> kilobytes)
      return kilobytes << 10;
  return 0;
}

} // namespace

chaos_peer::chaos_peer(std::string name, std::string role, address front)
    : name_(std::move(name)), role_(std::move(role)), front_(std::move(front)) {
}

expected<bool> chaos_peer::start(const child_group& family,
                                 const std::string& directory,
                                 std::vector<std::string> words, bool fresh) {
  end_life();
  ++count_;
  if (fresh) {
    std::error_code ignored;
    std::filesystem::remove_all(directory + "/" + name_, ignored);
    std::filesystem::remove(directory + "/" + name_ + ".checkpoint", ignored);
  }
  // Each life has a log of its own; identity and checkpoint stay.
  auto base = name_ + (count_ > 1 ? "." + std::to_string(count_) : "");
  words.push_back("--identity-dir=" + directory + "/" + name_);
  auto started = demo_peer::start(family, directory, base, role_, words);
  if (!started)
    return failure{started.error()};
  process_.emplace(std::move(*started));
  life_ = {};
  life_.name = base;
  life_.role = role_;
  stopped_ = false;
  limit_files(!full_disks_.empty());
  apply();
  return true;
}

bool chaos_peer::running() {
  if (!process_)
    return false;
  if (life_.end == life_record::how::left && clock::now() > leave_deadline_
      && process_->running()) {
    process_->blame("had not left " + std::to_string(leave_patience.count())
                    + " s after it was asked to");
    process_->process().signal(SIGKILL);
  }
  return process_->running();
}

bool chaos_peer::present() {
  return running() && life_.end == life_record::how::by_itself;
}

void chaos_peer::kill() {
  if (!present())
    return;
  process_->kill();
  life_.end = life_record::how::killed;
}

void chaos_peer::leave() {
  if (!present())
    return;
  process_->process().signal(SIGCONT);
  process_->stop();
  life_.end = life_record::how::left;
  leave_deadline_ = clock::now() + leave_patience;
}

void chaos_peer::stop(std::uint64_t fault) {
  stops_.insert(fault);
  apply();
}

void chaos_peer::slow(std::uint64_t fault, double factor) {
  slow_[fault] = factor;
}

void chaos_peer::fill_disk(std::uint64_t fault) {
  full_disks_.insert(fault);
  limit_files(true);
}

void chaos_peer::end_fault(std::uint64_t fault) {
  stops_.erase(fault);
  if (slow_.erase(fault) > 0 && slow_.empty())
    resting_ = false;
  if (full_disks_.erase(fault) > 0 && full_disks_.empty())
    limit_files(false);
  apply();
}

void chaos_peer::turn(clock::time_point now) {
  if (slow_.empty())
    return;
  double factor = 1;
  for (const auto& [fault, x] : slow_)
    factor *= x;
  auto place = now.time_since_epoch() % round_of_turns;
  resting_ = std::chrono::duration<double>(place).count() * factor
             >= std::chrono::duration<double>(round_of_turns).count();
  apply();
}

/// SIGSTOP or SIGCONT, when it is not so already.
void chaos_peer::apply() {
  auto wanted = !stops_.empty() || resting_;
  if (!process_ || wanted == stopped_
      || life_.end != life_record::how::by_itself)
    return;
  process_->process().signal(wanted ? SIGSTOP : SIGCONT);
  stopped_ = wanted;
}

/// A process that may not let any file grow gets EFBIG for every write, as it
/// would get ENOSPC on a full disk.
void chaos_peer::limit_files(bool full) {
  if (!process_ || process_->process().id() < 0)
    return;
  rlimit limit{};
  const auto id = process_->process().id();
  if (::prlimit(id, RLIMIT_FSIZE, nullptr, &limit) != 0)
    return;
  life_.log_has_gaps = life_.log_has_gaps || full;
  limit.rlim_cur = full ? 0 : limit.rlim_max;
  ::prlimit(id, RLIMIT_FSIZE, &limit, nullptr);
}

void chaos_peer::measure() {
  if (process_ && process_->process().id() >= 0)
    life_.peak_bytes
        = std::max(life_.peak_bytes, peak_memory(process_->process().id()));
}

std::vector<logged_event> chaos_peer::news() {
  return process_ ? process_->news() : std::vector<logged_event>{};
}

peer_view chaos_peer::view() const {
  peer_view result;
  if (process_)
    result = process_->view();
  result.name = name_;
  result.role = role_;
  if (!process_)
    result.phase = "away";
  else if (life_.end == life_record::how::left)
    result.phase = "left";
  else if (life_.end == life_record::how::by_itself && !stops_.empty())
    result.phase = "stopped";
  return result;
}

void chaos_peer::end_life() {
  if (!process_)
    return;
  process_->running(); // Notes how it ended, if it has.
  process_->news();
  life_.events = process_->record().events;
  life_.trouble = process_->record().trouble;
  lives_.push_back(std::move(life_));
  process_.reset();
}

std::vector<life_record> chaos_peer::take_lives() {
  end_life();
  return std::move(lives_);
}

} // namespace potluck::tools
