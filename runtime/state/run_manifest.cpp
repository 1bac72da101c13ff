#include "runtime/state/run_manifest.hpp"

#include <algorithm>

#include "runtime/state/charter_fields.hpp"

namespace potluck {

namespace {

const std::string section_prefix = file_prefix;
/// Of a section with settings, with room to spare.
constexpr std::size_t most_settings_bytes = 64 << 10;

/// In one form and order only: those of a section that every run has, then
/// those of its kind. The run's name is the manifest's own.
std::vector<manifest_section> sections_of(const charter& x) {
  std::vector<manifest_section> result;
  const auto add = [&](const std::string& section, const std::string& name,
                       const std::string& value) {
    auto at = std::find_if(result.begin(), result.end(),
                           [&](auto& y) { return y.name == section; });
    if (at == result.end())
      at = result.insert(at, {section, {}});
    at->bytes += name + "=" + value + "\n";
  };
  for (const auto& field : charter_fields())
    if (field.name != "run" && field.written(x.settings()))
      add(field.section, field.name, field.print(x.settings()));
  for (const auto& [section, own] : x.settings().own)
    for (const auto& [name, value] : own)
      add(section, name, value);
  for (const auto& [name, bytes] : x.files())
    result.push_back({section_prefix + name, bytes});
  return result;
}

std::string read_section(const manifest_section& from, run_settings& settings) {
  const auto& text = from.bytes;
  if (text.size() > most_settings_bytes)
    return "it is too long";
  for (std::size_t start = 0; start < text.size();) {
    const auto end = text.find('\n', start);
    const auto middle = text.find('=', start);
    if (end == std::string::npos || middle == std::string::npos || middle > end)
      return "a line of it is no setting";
    const auto name = text.substr(start, middle - start);
    auto value = text.substr(middle + 1, end - middle - 1);
    start = end + 1;
    if (const auto field = find_field(name)) {
      if (auto done = field->assign(settings, value); !done)
        return done.error();
    } else {
      settings.own[from.name][name] = std::move(value);
    }
  }
  return "";
}

bool same(const std::vector<manifest_section>& a,
          const std::vector<manifest_section>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](auto& x, auto& y) { return x.name == y.name && x.bytes == y.bytes; });
}

} // namespace

expected<manifest> sign_charter(const charter& draft,
                                const key_pair& organiser) {
  return manifest::sign(draft.settings().run, sections_of(draft), organiser);
}

expected<charter> charter_of(const manifest& x) {
  run_settings settings;
  set_unwritten(settings);
  charter_files files;
  for (const auto& section : x.sections())
    if (section.name.compare(0, section_prefix.size(), section_prefix) == 0)
      files[section.name.substr(section_prefix.size())] = section.bytes;
    else if (auto problem = read_section(section, settings); !problem.empty())
      return failure{"the manifest's section '" + section.name
                     + "' cannot be used: " + problem};
  settings.run = x.run();
  for (const auto& problem : {problem_with(settings), problem_with(files)})
    if (!problem.empty())
      return failure{problem};
  charter result{std::move(settings), std::move(files)};
  // So nothing is missing, misplaced or unknown.
  if (!same(sections_of(result), x.sections()))
    return failure{"the manifest was made by another version of Potluck; use "
                   "the same version everywhere"};
  return result;
}

bool is_of_its_run(const charter& x, const public_key& organiser) {
  const auto& run = x.settings().run;
  const auto id = id_in(run);
  return !id.empty()
         && manifest::id_of(name_in(run), sections_of(x), organiser) == id;
}

expected<charter> read_charter(const std::string& run,
                               const std::string& bytes) {
  const auto id = id_in(run);
  if (id.empty()) {
    auto result = charter::from_bytes(bytes);
    if (result && result->settings().run != run)
      return failure{"the charter is of another run"};
    return result;
  }
  auto signed_by_organiser = manifest::read(bytes, id);
  if (!signed_by_organiser)
    return failure{"what should be the manifest of run " + shown_run(run) + " "
                   + signed_by_organiser.error()};
  if (signed_by_organiser->run() != run)
    return failure{"the manifest is of another run"};
  return charter_of(*signed_by_organiser);
}

} // namespace potluck
