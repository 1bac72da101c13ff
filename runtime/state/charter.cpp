#include "runtime/state/charter.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "messages/seal.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/manifest/organisers.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/optimizer/tensor_groups.hpp"
#include "runtime/state/artifact_list.hpp"
#include "runtime/state/charter_fields.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck {

namespace {

/// Of all kinds together: a `hello` has room for 128 settings and files.
constexpr std::size_t most_own_settings = 64;
/// As in a `hello`.
constexpr std::size_t longest_own_value = 255;

std::vector<setting> common_table(const run_settings& settings) {
  std::vector<setting> table;
  for (const auto& field : charter_fields())
    if (field.written(settings))
      table.push_back({field.name, field.print(settings)});
  return table;
}

/// Whoever knows the kind says whether the values are right.
std::string problem_with(const own_settings& own) {
  std::set<std::string> names;
  std::size_t count = 0;
  for (const auto& [section, values] : own)
    for (const auto& [name, value] : values) {
      if (own_sections().count(section) == 0)
        return "there is no section of settings called \"" + shown(section)
               + "\"";
      if (!is_setting_name(name) || find_field(name))
        return "\"" + shown(name) + "\" is no name of a setting of a "
               + section;
      if (!names.insert(name).second)
        return name + " is there twice";
      if (!is_setting_text(value, longest_own_value))
        return name + " must be 1 to " + std::to_string(longest_own_value)
               + " printable ASCII characters";
      if (++count > most_own_settings)
        return "there are more than " + std::to_string(most_own_settings)
               + " settings of a model, its data and its optimizer";
    }
  return {};
}

// The layout is described in README.md, section "Bytes".
constexpr char magic[] = "PLKCHART";
constexpr std::size_t magic_bytes = 8;
constexpr std::uint32_t format_version = 2;
constexpr std::uint32_t max_table_bytes = 64u << 10;
/// A created run's manifest has a section for each.
constexpr std::size_t max_files = 16;
constexpr std::size_t max_file_name_bytes = 27;
/// A charter travels as one body.
constexpr std::size_t max_files_bytes = 15u << 20;

/// A kind's own setting is written with its section: "model.layers=4".
std::string table_text(const run_settings& settings) {
  std::string text;
  for (const auto& line : common_table(settings))
    text += line.name + "=" + line.value + "\n";
  for (const auto& [section, own] : settings.own)
    for (const auto& [name, value] : own)
      text += section + "." + name + "=" + value + "\n";
  return text;
}

/// Why these settings are none for re-drawn groups; empty: they are.
std::string problem_with_moshpit(const run_settings& settings) {
  const std::string averaging = "averaging moshpit needs ";
  if (settings.delayed_updates())
    return averaging
           + "updates synchronous, for a step's mean replaces the parameters "
             "that delayed batches would still read";
  if (settings.packing != "float32")
    return averaging
           + "packing float32, for parameters are averaged and would be "
             "rounded at every step; packing is "
           + settings.packing;
  if (settings.part_norm > 0)
    return averaging
           + "part-norm 0, for parts hold parameters, whose norm says nothing "
             "of the gradient's";
  if (settings.reserve > 0)
    return averaging
           + "reserve 0, for a group that loses members counts what is left";
  return {};
}

/// Reads the table's text. Whether all of it is there, in order and once, the
/// caller sees when it is written again.
expected<run_settings> read_table(const std::string& text) {
  run_settings settings;
  set_unwritten(settings);
  std::size_t common = 0;
  for (std::size_t start = 0; start < text.size();) {
    const auto end = text.find('\n', start);
    const auto middle = text.find('=', start);
    if (end == std::string::npos || middle == std::string::npos || middle > end)
      return failure{"the charter's table is malformed"};
    const auto name = text.substr(start, middle - start);
    auto value = text.substr(middle + 1, end - middle - 1);
    start = end + 1;
    const auto dot = name.find('.');
    if (dot != std::string::npos) {
      settings.own[name.substr(0, dot)][name.substr(dot + 1)]
          = std::move(value);
      continue;
    }
    const auto field = find_field(name);
    if (!field)
      return failure{"there is no setting called \"" + shown(name) + "\""};
    if (auto done = field->assign(settings, value); !done)
      return failure{done.error()};
    ++common;
  }
  auto may_lack = static_cast<std::size_t>(std::count_if(
      charter_fields().begin(), charter_fields().end(),
      [](const auto& field) { return !field.unwritten.empty(); }));
  auto all = charter_fields().size();
  if (common > all || common + may_lack < all)
    return failure{"the charter has " + std::to_string(common)
                   + " settings, but this version of Potluck has "
                   + std::to_string(all) + "; use the same version everywhere"};
  return settings;
}

/// The setting's value; that which is not written where there is none.
std::optional<std::string> find(const std::vector<setting>& table,
                                const std::string& name) {
  for (const auto& line : table)
    if (line.name == name)
      return line.value;
  const auto field = find_field(name);
  return field && !field->unwritten.empty() ? std::optional{field->unwritten}
                                            : std::nullopt;
}

bool is_file_name(const std::string& x) {
  return !x.empty() && x.size() <= max_file_name_bytes
         && std::all_of(x.begin(), x.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || c == '-';
            });
}

} // namespace

digest run_settings::initial_digest() const {
  return parse_id<digest>(initial).value_or(digest{});
}

std::string problem_with(const charter_files& files) {
  std::size_t bytes = 0;
  for (const auto& [name, content] : files) {
    if (!is_file_name(name))
      return "\"" + shown(name) + "\" is no name of a file: it has 1 to "
             + std::to_string(max_file_name_bytes)
             + " small letters, digits and dashes";
    bytes += content.size();
  }
  if (files.size() > max_files || bytes > max_files_bytes)
    return "the files are too large: a charter has at most "
           + std::to_string(max_files) + " files and "
           + std::to_string(max_files_bytes >> 20) + " MiB of them";
  if (const auto list = files.find(artifacts_file); list != files.end())
    if (auto read = read_artifacts_text(list->second); !read)
      return read.error();
  return {};
}

averaging_rule run_settings::averaging() const {
  averaging_rule rule;
  rule.how = aggregator_from(aggregator).value_or(potluck::aggregator::mean);
  rule.trim = trim;
  rule.clip_radius = clip_radius;
  rule.part_norm = part_norm;
  return rule;
}

charter::charter(run_settings settings, charter_files files)
    : settings_(std::move(settings)), files_(std::move(files)) {
  complete(settings_, built_in_families());
  for (auto at = files_.begin(); at != files_.end();)
    at = at->second.empty() ? files_.erase(at) : std::next(at);
  std::string bytes = to_bytes();
  digest_ = digest_of(bytes.data(), bytes.size());
}

charter::charter(run_settings settings, std::string tokenizer)
    : charter(std::move(settings),
              charter_files{{"tokenizer", std::move(tokenizer)}}) {
}

const std::string& charter::file(const std::string& name) const {
  static const std::string none;
  const auto at = files_.find(name);
  return at == files_.end() ? none : at->second;
}

std::vector<setting> charter::table() const {
  auto result = to_table(settings_);
  for (const auto& [name, bytes] : files_)
    result.push_back(
        {file_prefix + name, to_string(digest_of(bytes.data(), bytes.size()))});
  return result;
}

std::string charter::to_bytes() const {
  const auto table = table_text(settings_);
  std::string bytes(magic, magic_bytes);
  append_little_endian(bytes, format_version);
  append_little_endian(bytes, static_cast<std::uint32_t>(table.size()));
  append_little_endian(bytes, static_cast<std::uint32_t>(files_.size()));
  bytes += table;
  for (const auto& [name, content] : files_) {
    append_text(bytes, name);
    append_little_endian(bytes, static_cast<std::uint32_t>(content.size()));
    bytes += content;
  }
  return bytes;
}

expected<charter> charter::from_bytes(const std::string& bytes) {
  byte_reader all{bytes};
  if (all.bytes(magic_bytes) != std::string_view(magic, magic_bytes))
    return failure{"these bytes are no charter"};
  const auto version = all.integer<std::uint32_t>();
  if (version != format_version)
    return failure{"the charter is of format " + std::to_string(version)
                   + ", but this version of Potluck reads "
                   + std::to_string(format_version)
                   + "; use the same version everywhere"};
  const auto table_bytes = all.integer<std::uint32_t>();
  const auto count = all.integer<std::uint32_t>();
  if (count > max_files || table_bytes > max_table_bytes)
    return failure{"the charter's sizes are too large"};
  const std::string table{all.bytes(table_bytes)};
  charter_files files;
  for (std::uint32_t i = 0; i < count && !all.lacks(); ++i) {
    auto name = all.text();
    files[std::move(name)] = all.bytes(all.integer<std::uint32_t>());
  }
  if (!all.done())
    return failure{"the charter's sizes do not match its length"};
  if (auto problem = problem_with(files); !problem.empty())
    return failure{problem};
  auto settings = read_table(table);
  if (!settings)
    return failure{settings.error()};
  auto problem = problem_with(*settings);
  if (!problem.empty())
    return failure{problem};
  charter result(std::move(*settings), std::move(files));
  // One charter has one digest, so it must have one form in bytes.
  if (result.to_bytes() != bytes)
    return failure{"the charter is not in its canonical form"};
  return result;
}

expected<bool> assign(run_settings& settings, const std::string& name,
                      const std::string& value) {
  return assign(settings, name, value, built_in_families());
}

std::vector<setting> to_table(const run_settings& settings) {
  auto table = common_table(settings);
  for (const auto& [section, own] : settings.own)
    for (const auto& [name, value] : own)
      table.push_back({name, value});
  return table;
}

expected<admission_rules> admission_rules_of(const run_settings& settings) {
  return read_admission_rules(settings.admission, settings.authority,
                              settings.vouchers);
}

std::string problem_with(const run_settings& settings) {
  for (const auto& field : charter_fields()) {
    auto problem = field.problem(settings);
    if (!problem.empty())
      return problem;
  }
  // Whose key the organiser's is, is in the manifest.
  if (auto others = read_organisers({}, settings.successor); !others)
    return "successor " + others.error();
  if (settings.initial != "seed" && settings.initial_digest().empty())
    return "initial is '" + settings.initial
           + "', but must be seed, or a state's digest of 32 hex digits";
  if (auto problem = problem_with(settings.own); !problem.empty())
    return problem;
  auto whole = settings; // What is not said is as usual.
  complete(whole, built_in_families());
  if (auto problem = problem_with(whole, built_in_families()); !problem.empty())
    return problem;
  const auto of_optimizer = optimizer_settings(settings);
  if (auto groups = tensor_groups::read(of_optimizer.text("decay-except"),
                                        of_optimizer.text("rates"));
      !groups)
    return groups.error();
  if (auto rules = admission_rules_of(settings); !rules)
    return rules.error();
  if (settings.redraws_groups())
    if (auto problem = problem_with_moshpit(settings); !problem.empty())
      return problem;
  if (settings.warmup_steps > settings.steps)
    return "warmup-steps is " + std::to_string(settings.warmup_steps)
           + ", but must be at most steps, which is "
           + std::to_string(settings.steps);
  return {};
}

std::string differences(const std::vector<setting>& here,
                        const std::vector<setting>& there) {
  std::string result;
  std::set<std::string> compared;
  for (const auto* table : {&here, &there})
    for (const auto& line : *table) {
      if (!compared.insert(line.name).second)
        continue;
      auto a = find(here, line.name);
      auto b = find(there, line.name);
      if (a == b)
        continue;
      if (!result.empty())
        result += "; ";
      result += shown(line.name) + " is " + (a ? shown(*a) : "missing")
                + " here and " + (b ? shown(*b) : "missing") + " there";
    }
  return result;
}

} // namespace potluck
