#include "runtime/state/kept_states.hpp"

#include <filesystem>
#include <optional>
#include <utility>

#include "runtime/numbers.hpp"
#include "runtime/state/atomic_file.hpp"

namespace potluck {

namespace {

namespace fs = std::filesystem;

const std::string ending = ".checkpoint";

/// STEP.DIGEST.checkpoint; nothing where it is no kept state's.
std::optional<std::pair<std::uint64_t, digest>>
kept_in(const std::string& name) {
  const auto dot = name.find('.');
  const auto last = name.rfind('.');
  if (dot == last || name.substr(last) != ending)
    return std::nullopt;
  std::uint64_t step = 0;
  const auto state = parse_id<digest>(name.substr(dot + 1, last - dot - 1));
  if (!read_number(name.substr(0, dot), step) || !state)
    return std::nullopt;
  return std::pair{step, *state};
}

} // namespace

std::string kept_states::path_of(std::uint64_t step,
                                 const digest& state) const {
  return folder_ + "/" + std::to_string(step) + "." + to_string(state) + ending;
}

std::map<std::uint64_t, digest> kept_states::all() const {
  std::map<std::uint64_t, digest> result;
  std::error_code problem;
  for (fs::directory_iterator i{folder_, problem}, end; !problem && i != end;
       i.increment(problem))
    if (auto x = kept_in(i->path().filename()))
      result.insert(*x);
  return result;
}

expected<bool> kept_states::keep(const charter& agreed,
                                 const training_state& state) const {
  std::error_code problem;
  fs::create_directories(folder_, problem);
  if (problem)
    return failure{"cannot make the folder " + folder_ + ": "
                   + problem.message()};
  const auto others = all();
  const auto now = digest_of_state(state);
  auto saved = save_checkpoint(path_of(state.step, now), agreed, state);
  if (!saved)
    return saved;
  // Another one of its step counts no more; of the others the newest stay.
  std::size_t kept = 1;
  std::size_t ahead = 0;
  for (auto i = others.rbegin(); i != others.rend(); ++i) {
    const auto& [step, its] = *i;
    if (step == state.step ? its != now
                           : ++(step > state.step ? ahead : kept) > most_)
      fs::remove(path_of(step, its), problem);
  }
  return true;
}

void kept_states::give_up_after(std::uint64_t step) const {
  std::error_code ignored;
  for (const auto& [its, state] : all())
    if (its > step)
      fs::remove(path_of(its, state), ignored);
}

expected<training_state> kept_states::find(std::uint64_t step,
                                           const digest& state) const {
  auto wanted = state;
  if (wanted.empty()) {
    const auto here = all();
    const auto found = here.find(step);
    if (found == here.end())
      return failure{"no state of step " + std::to_string(step) + " is kept in "
                     + folder_};
    wanted = found->second;
  }
  const auto path = path_of(step, wanted);
  auto saved = load_checkpoint(path);
  if (!saved)
    return failure{saved.error()};
  if (saved->state.step != step || digest_of_state(saved->state) != wanted)
    return failure{path + " is not the state to go back to"};
  return std::move(saved->state);
}

} // namespace potluck
