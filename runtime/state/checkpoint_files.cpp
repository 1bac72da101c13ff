#include "runtime/state/checkpoint_files.hpp"

#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/numbers.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/checkpoint.hpp"

namespace potluck {

namespace {

namespace fs = std::filesystem;

digest digest_held(const training_state& state) {
  return state.recent.empty() ? digest_of_state(state) : state.recent.front();
}

/// A file that somebody else put there is none of ours.
bool is_checkpoint(const std::string& file, const std::string& run,
                   std::uint64_t step) {
  const auto what = read_checkpoint_summary(file);
  return what && what->charter.settings().run == run && what->step == step;
}

} // namespace

void checkpoint_files::resumes(const std::string& file,
                               const training_state& state) {
  struct stat there {};
  if (::stat(file.c_str(), &there) == 0)
    pinned_ = file_number{there.st_dev, there.st_ino};
  if (is_pinned(at_.path))
    done_ = digest_held(state);
}

expected<checkpoint_files::left_behind>
checkpoint_files::spare(const std::string& run) {
  const auto there = read_checkpoint_summary(at_.path);
  if (!there || there->charter.settings().run != run || there->step == 0)
    return left_behind{};
  const auto name = older_name(there->step);
  std::error_code problem;
  if (!fs::equivalent(at_.path, name, problem)) {
    if (fs::exists(name, problem) && !is_checkpoint(name, run, there->step))
      return failure{"cannot rename " + at_.path + ": " + name
                     + " is something else"};
    ::unlink(name.c_str());
    if (::link(at_.path.c_str(), name.c_str()) != 0
        && ::rename(at_.path.c_str(), name.c_str()) != 0)
      return file_failure("rename", at_.path);
  }
  struct stat spared {};
  if (::stat(name.c_str(), &spared) != 0)
    return file_failure("look at", name);
  pinned_ = file_number{spared.st_dev, spared.st_ino};
  return left_behind{name, there->step};
}

void checkpoint_files::begin(const charter& agreed) {
  std::lock_guard<std::mutex> guard{mutex_};
  agreed_ = std::make_shared<const charter>(agreed);
}

bool checkpoint_files::is_pinned(const std::string& file) const {
  struct stat there {};
  return pinned_ && ::stat(file.c_str(), &there) == 0
         && there.st_dev == pinned_->device && there.st_ino == pinned_->inode;
}

std::string checkpoint_files::older_name(std::uint64_t step) const {
  return at_.path + "." + std::to_string(step);
}

void checkpoint_files::keep_newest(std::uint64_t next_step) const {
  const auto there = read_checkpoint_summary(at_.path);
  if (!there || there->step == next_step)
    return;
  const bool ahead = there->step > std::max(farthest_, next_step);
  if (at_.keep < 2 && !is_pinned(at_.path) && !ahead)
    return;
  const auto older = older_name(there->step);
  if (is_pinned(older))
    return;
  ::unlink(older.c_str());
  static_cast<void>(::link(at_.path.c_str(), older.c_str()));
}

void checkpoint_files::remove_oldest(const std::string& run) const {
  const auto path = fs::absolute(at_.path);
  const auto beginning = path.filename().string() + ".";
  struct older_file {
    fs::file_time_type written;
    std::uint64_t step;
    fs::path path;
  };
  std::vector<older_file> older;
  std::error_code problem;
  for (fs::directory_iterator i{path.parent_path(), problem}, end;
       !problem && i != end; i.increment(problem)) {
    const auto name = i->path().filename().string();
    if (name.compare(0, beginning.size(), beginning) != 0)
      continue;
    std::uint64_t step = 0;
    std::error_code unknown;
    if (read_number(name.substr(beginning.size()), step)
        && beginning + std::to_string(step) == name
        && is_checkpoint(i->path(), run, step))
      older.push_back({i->last_write_time(unknown), step, i->path()});
  }
  std::sort(older.begin(), older.end(), [](auto& x, auto& y) {
    return std::tie(x.written, x.step) > std::tie(y.written, y.step);
  });
  for (std::size_t i = at_.keep - 1; i < older.size(); ++i)
    if (older[i].step <= farthest_ && !is_pinned(older[i].path))
      fs::remove(older[i].path, problem);
}

/// The run's last state, which nobody will write again, is tried in two places.
checkpoint_files::outcome checkpoint_files::save(const training_state& state) {
  std::lock_guard<std::mutex> alone{writing_};
  outcome result{at_.path, {}};
  std::shared_ptr<const charter> agreed;
  std::vector<signed_step> history;
  {
    std::lock_guard<std::mutex> guard{mutex_};
    agreed = agreed_;
    history = history_;
    done_ = digest_held(state);
  }
  if (!agreed) {
    result.problem = "it is not known yet which run it is of";
    return result;
  }
  // Training has gone on since the state was taken.
  while (!history.empty() && history.back().step > state.step)
    history.pop_back();
  const bool has_older = at_.keep > 1 || pinned_;
  if (has_older)
    keep_newest(state.step);
  auto saved = save_checkpoint(at_.path, *agreed, state, *at_.where, history);
  if (saved) {
    farthest_ = std::max(farthest_, state.step);
    if (has_older)
      remove_oldest(agreed->settings().run);
    return result;
  }
  result.problem = saved.error();
  const auto& other = at_.fallback;
  if (other.empty() || state.step < agreed->settings().steps)
    return result;
  if (auto rescued
      = save_checkpoint(other, *agreed, state, *at_.where, history);
      rescued) {
    result.path = other;
    result.problem += "; it is in " + other + " instead";
  } else {
    result.problem += "; " + rescued.error();
  }
  return result;
}

void checkpoint_files::proves(std::vector<signed_step> history) {
  std::lock_guard<std::mutex> guard{mutex_};
  history_ = std::move(history);
}

void checkpoint_files::may_be_saved(const digest& state) {
  std::lock_guard<std::mutex> guard{mutex_};
  allowed_ = state;
}

bool checkpoint_files::lacks(const training_state& state) const {
  const auto& recent = state.recent;
  std::lock_guard<std::mutex> guard{mutex_};
  // A step that was made from it may not have been told of any more.
  return agreed_ && state.step > 0 && !recent.empty() && recent.front() != done_
         && std::find(recent.begin(), recent.end(), allowed_) != recent.end();
}

} // namespace potluck
