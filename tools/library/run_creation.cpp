#include "tools/library/run_creation.hpp"

#include <utility>

#include "runtime/identity/identity.hpp"
#include "runtime/manifest/invitation.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/run_manifest.hpp"
#include "tools/library/complaint.hpp"
#include "tools/library/loop_identity.hpp"
#include "tools/library/outside_model.hpp"
#include "tools/potluck/created_run.hpp"

namespace potluck::library {

namespace {

/// Where the run will be found. Throws `complaint`.
std::vector<contact> contacts_named(const loop_options& options,
                                    const peer_id& own) {
  std::vector<contact> result = options.peers();
  if (!options.text("announce").empty())
    result.insert(result.begin(),
                  contact{own, *parse_address(options.text("announce"))});
  if (result.empty())
    throw complaint{
        "an invitation says where the run is found; set announce to "
        "the HOST:PORT at which others reach this peer"};
  return result;
}

} // namespace

std::string create_run(const loop_options& options, first_state& first) {
  const auto folder = identity_folder(options);
  if (folder.empty())
    throw complaint{"a created run's files need a folder; set identity-dir"};
  if (!options.text("invitation").empty())
    throw complaint{
        "the invitation is to a run that exists; open that instead"};
  auto own = identity::key_in(folder, "identity");
  auto organiser = identity::key_in(folder, "organiser");
  if (!own || !organiser)
    throw complaint{own ? organiser.error() : own.error()};
  auto contacts = contacts_named(options, own->id());
  const auto name = options.text("run");
  const auto path = tools::manifest_path(folder, name);
  const auto& state = first.whole(options.settings("seed"));
  const auto draft = charter_with(
      options.settings(to_string(state.recent.front())), first.layout(),
      options.artifacts(), artifacts_of(options));
  auto signed_now = sign_charter(draft, *organiser);
  if (!signed_now)
    throw complaint{signed_now.error()};
  auto existing = tools::read_manifest_file(path);
  if (!existing)
    throw complaint{existing.error()};
  if (*existing && (*existing)->id() != signed_now->id())
    throw complaint{"you have created a run " + name
                    + " with other settings or tensors, and what it is never "
                      "changes; give the new one another name"};
  const invitation to{signed_now->name(),
                      signed_now->id(),
                      signed_now->organiser(),
                      std::move(contacts),
                      {}};
  auto text = to_text(to);
  if (!text)
    throw complaint{"no invitation: " + text.error()};
  if (!*existing) {
    auto of_run = charter_of(*signed_now);
    if (!of_run)
      throw complaint{of_run.error()};
    const auto kept_at = tools::first_state_path(folder, to.run());
    if (auto kept = save_checkpoint(kept_at, *of_run, state); !kept)
      throw complaint{kept.error()};
    const auto bytes = signed_now->to_bytes();
    if (auto done = replace_file(path, {{bytes.data(), bytes.size()}}); !done)
      throw complaint{done.error()};
  }
  return *text;
}

} // namespace potluck::library
