#include "models/script/founding_script.hpp"

#include <cstring>
#include <fstream>

#include "models/script/script_inputs.hpp"
#include "models/script/script_program.hpp"
#include "runtime/state/layout_text.hpp"

namespace potluck {

namespace {

/// A charter's other files, such as a tokenizer, take the rest of its 15 MiB.
constexpr std::size_t largest_script = 14u << 20;

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

bool names_script(const std::string& model) {
  const auto end = std::strlen(script_suffix);
  return model.size() > end
         && model.compare(model.size() - end, end, script_suffix) == 0;
}

expected<founding_script> read_founding_script(const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes)
    return failure{bytes.error()};
  auto script = describe_script(*bytes);
  if (!script)
    return failure{path + " " + script.error() + "."};
  if (auto fits = samples_for(script->arguments); !fits)
    return failure{path + " cannot be trained: " + fits.error() + "."};
  if (script->file.size() > largest_script)
    return failure{path + " holds " + std::to_string(script->file.size() >> 20)
                   + " MiB of code, buffers and constants, and a run takes "
                   + std::to_string(largest_script >> 20)
                   + ": make parameters of what is large, or compute it in "
                     "forward."};
  founding_script result;
  for (const auto& x : script->arguments)
    result.inputs += (result.inputs.empty() ? "" : ",") + x;
  result.files = {{layout_file, to_layout_text(script->layout)},
                  {script_file, std::move(script->file)}};
  result.first = std::make_shared<training_state>();
  result.first->first_moment.resize(script->values.size());
  result.first->second_moment.resize(script->values.size());
  result.first->parameters = std::move(script->values);
  remember_digest(*result.first);
  return result;
}

run_settings with_script(run_settings settings, const founding_script& script) {
  settings.model = script_model;
  settings.own["model"]["inputs"] = script.inputs;
  settings.initial = to_string(script.first->recent.front());
  return settings;
}

} // namespace potluck
