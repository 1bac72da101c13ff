#include "runtime/state/run_manifest.hpp"

#include <algorithm>

#include "runtime/state/charter_fields.hpp"

namespace potluck {

namespace {

const std::string file_section = file_prefix;

/// In one form and order only. The run's name is the manifest's own.
std::vector<manifest_section> sections_of(const charter& x) {
  std::vector<manifest_section> result;
  for (const auto& field : charter_fields()) {
    if (field.name == "run" || !field.written(x.settings()))
      continue;
    auto at = std::find_if(result.begin(), result.end(), [&](auto& section) {
      return section.name == field.section;
    });
    if (at == result.end())
      at = result.insert(at, {field.section, {}});
    at->bytes += field.name + "=" + field.print(x.settings()) + "\n";
  }
  for (const auto& [name, bytes] : x.files())
    result.push_back({file_section + name, bytes});
  return result;
}

std::string read_section(const std::string& text, run_settings& settings) {
  for (std::size_t start = 0; start < text.size();) {
    const auto end = text.find('\n', start);
    const auto middle = text.find('=', start);
    if (end == std::string::npos || middle == std::string::npos || middle > end)
      return "a line of it is no setting";
    auto done = assign(settings, text.substr(start, middle - start),
                       text.substr(middle + 1, end - middle - 1));
    if (!done)
      return done.error();
    start = end + 1;
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
  for (const auto& field : charter_fields())
    if (!field.unwritten.empty())
      field.assign(settings, field.unwritten);
  charter_files files;
  for (const auto& section : x.sections())
    if (section.name.compare(0, file_section.size(), file_section) == 0)
      files[section.name.substr(file_section.size())] = section.bytes;
    else if (auto problem = read_section(section.bytes, settings);
             !problem.empty())
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
