#include "models/script/founding_script.hpp"

#include <cstring>
#include <fstream>

#include "models/script/script_inputs.hpp"
#include "models/script/script_program.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/state/layout_text.hpp"

namespace potluck {

namespace {

/// More is not for a charter, which all peers fetch whole, but an artifact.
constexpr std::size_t large_script = 4u << 20;

expected<std::string> read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary | std::ios::ate};
  const auto size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
  if (size < 0)
    return failure{"There is no file " + path + " that can be read."};
  if (static_cast<std::uint64_t>(size) > scripting::largest_file)
    return failure{path + " is larger than 2 GiB."};
  std::string result(static_cast<std::size_t>(size), '\0');
  file.seekg(0);
  if (!file.read(result.data(), size))
    return failure{"There is no file " + path + " that can be read."};
  return result;
}

} // namespace

namespace {

bool averages_buffers(const run_settings& x) {
  const auto own = x.own.find("model");
  if (own == x.own.end())
    return false;
  const auto buffers = own->second.find("buffers");
  return buffers != own->second.end() && buffers->second == "average";
}

} // namespace

bool names_script(const std::string& model) {
  const auto end = std::strlen(script_suffix);
  return model.size() > end
         && model.compare(model.size() - end, end, script_suffix) == 0;
}

std::string problem_with_computing(const std::string& device,
                                   const std::string& precision) {
  const std::string beginning
      = "The run's model is a script, which is computed ";
  if (device != "auto" && device != "cpu")
    return beginning + "on the processor, and not on " + device
           + "; leave --device out.";
  if (precision != "float32")
    return beginning + "in float32, and not in " + precision
           + "; leave --precision out.";
  return "";
}

expected<founding_script> read_founding_script(const std::string& path,
                                               const run_settings& given) {
  const auto bytes = read_file(path);
  if (!bytes)
    return failure{bytes.error()};
  auto script = describe_script(*bytes, averages_buffers(given));
  if (!script)
    return failure{path + " " + script.error() + "."};
  if (auto fits = samples_for(script->arguments); !fits)
    return failure{path + " cannot be trained: " + fits.error() + "."};
  if (script->file.size() > max_artifact_bytes)
    return failure{path + " holds " + std::to_string(script->file.size() >> 20)
                   + " MiB of code, buffers and constants, and a run takes "
                   + std::to_string(max_artifact_bytes >> 20)
                   + ": make parameters of what is large, or compute it in "
                     "forward."};
  founding_script result;
  for (const auto& x : script->arguments)
    result.inputs += (result.inputs.empty() ? "" : ",") + x;
  result.files[layout_file] = to_layout_text(script->layout);
  if (script->file.size() > large_script)
    result.large = std::move(script->file);
  else
    result.files[script_file] = std::move(script->file);
  result.first = std::make_shared<training_state>();
  result.first->parameters = std::move(script->values);
  remember_digest(*result.first);
  return result;
}

expected<bool> add_large(const founding_script& script,
                         const artifact_folder& folder, own_artifacts& to) {
  if (script.large.empty())
    return true;
  if (folder.path().empty())
    return failure{"A model with more than "
                   + std::to_string(large_script >> 20)
                   + " MiB of code, buffers and constants needs a folder to "
                     "be kept in; name one with --identity-dir."};
  auto path = folder.put(script.large);
  if (!path)
    return failure{path.error() + "."};
  to[script_file] = std::move(*path);
  return true;
}

std::string script_of(const charter& agreed, const std::string& artifacts) {
  if (const auto& here = agreed.file(script_file); !here.empty())
    return here;
  return unwrap(
      read_file(unwrap(artifact_folder{artifacts}.find(agreed, script_file))));
}

run_settings with_script(run_settings settings, founding_script& script) {
  set_moments(*script.first, moments_kept(settings));
  settings.model = script_model;
  settings.own["model"]["inputs"] = script.inputs;
  settings.initial = to_string(script.first->recent.front());
  return settings;
}

} // namespace potluck
