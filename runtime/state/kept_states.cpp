#include "runtime/state/kept_states.hpp"

#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "runtime/state/atomic_file.hpp"

namespace potluck {

namespace {

namespace fs = std::filesystem;

const std::string ending = ".checkpoint";

/// The step in a file's name; nothing where it is no kept state's.
std::optional<std::uint64_t> step_in(const std::string& name) {
  if (name.size() <= ending.size()
      || name.compare(name.size() - ending.size(), ending.size(), ending) != 0)
    return std::nullopt;
  std::uint64_t step = 0;
  const auto* end = name.data() + name.size() - ending.size();
  const auto read = std::from_chars(name.data(), end, step);
  if (read.ec != std::errc{} || read.ptr != end)
    return std::nullopt;
  return step;
}

} // namespace

std::string kept_states::path_of(std::uint64_t step) const {
  return folder_ + "/" + std::to_string(step) + ending;
}

expected<bool> kept_states::keep(const charter& agreed,
                                 const training_state& state) const {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem)
    return failure{"cannot make the folder " + folder_ + ": "
                   + problem.message()};
  auto saved = save_checkpoint(path_of(state.step), agreed, state);
  if (!saved)
    return saved;
  std::set<std::uint64_t> others;
  for (fs::directory_iterator i{folder_, problem}, end; !problem && i != end;
       i.increment(problem))
    if (auto step = step_in(i->path().filename()); step && *step != state.step)
      others.insert(*step);
  // What lies behind this state counts no more; of the others the newest stay.
  auto remove = [&](std::uint64_t step) { fs::remove(path_of(step), problem); };
  std::size_t kept = 1;
  for (auto i = others.rbegin(); i != others.rend(); ++i)
    if (*i > state.step || ++kept > most_)
      remove(*i);
  return true;
}

expected<training_state> kept_states::find(std::uint64_t step,
                                           const digest& state) const {
  auto saved = load_checkpoint(path_of(step));
  if (!saved)
    return failure{saved.error()};
  if (saved->state.step != step || digest_of_state(saved->state) != state)
    return failure{path_of(step) + " is not the state to go back to"};
  return std::move(saved->state);
}

} // namespace potluck
