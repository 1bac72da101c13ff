#include "tools/library/first_state.hpp"

#include <algorithm>
#include <utility>

#include "runtime/manifest/run_key.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/layout_text.hpp"
#include "runtime/vector_loops.hpp"
#include "tools/library/complaint.hpp"
#include "tools/library/outside_model.hpp"
#include "tools/potluck/created_run.hpp"

namespace potluck::library {

void first_state::declare(const std::string& name,
                          std::vector<std::int64_t> shape, bool decays,
                          const float* values) {
  if (auto problem = problem_with_tensor(layout_, name, shape);
      !problem.empty())
    throw complaint{problem};
  const auto& known = layout_.entries();
  if (std::any_of(known.begin(), known.end(),
                  [&](auto& x) { return x.name == name; }))
    throw complaint{"tensor " + name + " was declared already"};
  if (own_ && own_->parameters.size() != layout_.values())
    throw complaint{"declare all tensors before potluck_load or "
                    "potluck_set_moments"};
  auto whole = layout_;
  whole.add(name, std::move(shape), decays, 0, 0);
  const auto count = whole.entries().back().values;
  if (values && !all_finite(values, count))
    throw complaint{"the first values of tensor " + name
                        + " are not all finite",
                    POTLUCK_NOT_FINITE};
  if (!own_)
    own_ = std::make_shared<training_state>();
  if (values)
    own_->parameters.insert(own_->parameters.end(), values, values + count);
  else
    own_->parameters.resize(whole.values());
  layout_ = std::move(whole);
}

const training_state& first_state::whole(const run_settings& of) {
  if (!own_)
    throw complaint{
        "the model has no tensors; declare them with potluck_tensor"};
  auto& x = *own_;
  potluck::set_moments(x, moments_kept(resumed_ ? resumed_->settings() : of));
  if (x.recent.empty())
    remember_digest(x);
  return x;
}

void first_state::load(const std::string& path) {
  if (!own_)
    throw complaint{"declare the tensors before potluck_load"};
  auto saved = load_checkpoint(path);
  if (!saved)
    throw complaint{saved.error()};
  if (auto problem = difference_from(saved->charter, layout_); !problem.empty())
    throw complaint{path + ": " + problem};
  if (saved->state.parameters.size() != layout_.values())
    throw complaint{path + ": the training state does not fit its own tensors"};
  own_ = std::make_shared<training_state>(std::move(saved->state));
  if (own_->recent.empty())
    remember_digest(*own_);
  resumed_ = std::move(saved->charter);
  resumed_from_ = path;
  resumed_history_ = std::move(saved->history);
}

void first_state::set_moments(const run_settings& of, std::uint64_t step,
                              const float* const* first,
                              const float* const* second) {
  whole(of);
  if (step >= of.steps)
    throw complaint{"step is " + std::to_string(step)
                    + ", but the run ends after " + std::to_string(of.steps)};
  const auto& all = layout_.entries();
  for (auto* from : {first, second})
    for (std::size_t i = 0; i < all.size(); ++i)
      if (from && from[i] && !all_finite(from[i], all[i].values))
        throw complaint{"a moment of tensor " + all[i].name + " is not finite",
                        POTLUCK_NOT_FINITE};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto put = [&](const float* const* from, std::vector<float>& to) {
      if (from && from[i] && !to.empty())
        std::copy_n(from[i], all[i].values, to.data() + all[i].offset);
    };
    put(first, own_->first_moment);
    put(second, own_->second_moment);
  }
  own_->step = step;
  own_->history_samples = step * of.target_batch;
  own_->recent.clear();
  remember_digest(*own_);
}

void first_state::give(peer_config& config, const std::string& folder,
                       const run_settings& of) {
  whole(of);
  const bool created = !id_in(config.run).empty();
  if (resumed_ && !created)
    for (const auto& x : config.demanded)
      if (x.name == "steps") // A trial belongs to those that hold it.
        resumed_ = tools::with_steps(*resumed_, whole_in(x.value));
  // Where the manifest is not here, others have it.
  if (!created || config.manifests.count(config.run) > 0)
    config.known = resumed_;
  if (!resumed_ && !folder.empty() && created) {
    // Whoever created the run has to be able to begin it, whatever values its
    // program comes with this time.
    const auto path = tools::first_state_path(folder, config.run);
    if (auto first = load_checkpoint(path);
        first && first->state.parameters.size() == layout_.values())
      own_ = std::make_shared<training_state>(std::move(first->state));
    whole(of);
  }
  config.state = std::exchange(own_, nullptr);
  config.history = std::move(resumed_history_);
}

} // namespace potluck::library
