#include "runtime/state/charter.hpp"
#include "messages/seal.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "runtime/manifest/organisers.hpp"
#include "runtime/state/charter_fields.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

namespace {

// The layout is described in README.md, section "Bytes".
constexpr char magic[] = "PLKCHART";
constexpr std::size_t magic_bytes = 8;
constexpr std::uint32_t format_version = 1;
constexpr std::size_t header_bytes = 20;
constexpr std::uint32_t max_table_bytes = 64u << 10;
constexpr std::uint32_t max_tokenizer_bytes = 15u << 20;

std::string table_text(const run_settings& settings) {
  std::string text;
  for (const auto& line : to_table(settings))
    text += line.name + "=" + line.value + "\n";
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

/// Reads the table's text: every field once. Order is checked by the caller.
expected<run_settings> read_table(const std::string& text) {
  run_settings settings;
  for (const auto& field : charter_fields())
    if (!field.unwritten.empty())
      field.assign(settings, field.unwritten);
  std::size_t lines = 0;
  for (std::size_t start = 0; start < text.size(); ++lines) {
    auto end = text.find('\n', start);
    auto middle = text.find('=', start);
    if (end == std::string::npos || middle == std::string::npos || middle > end)
      return failure{"the charter's table is malformed"};
    auto done = assign(settings, text.substr(start, middle - start),
                       text.substr(middle + 1, end - middle - 1));
    if (!done)
      return failure{done.error()};
    start = end + 1;
  }
  auto may_lack = static_cast<std::size_t>(std::count_if(
      charter_fields().begin(), charter_fields().end(),
      [](const auto& field) { return !field.unwritten.empty(); }));
  auto all = charter_fields().size();
  if (lines > all || lines + may_lack < all)
    return failure{"the charter has " + std::to_string(lines)
                   + " settings, but this version of Potluck has "
                   + std::to_string(all) + "; use the same version everywhere"};
  return settings;
}

/// Text of another peer, made safe and short for a terminal.
std::string shown(const std::string& text) {
  constexpr std::size_t longest = 64;
  std::string result = text.substr(0, longest);
  for (char& c : result)
    if (c < 0x20 || c > 0x7e)
      c = '?';
  if (text.size() > longest)
    result += "...";
  return result;
}

/// The setting's value; that which is not written where there is none.
std::optional<std::string> find(const std::vector<setting>& table,
                                const std::string& name) {
  for (const auto& line : table)
    if (line.name == name)
      return line.value;
  for (const auto& field : charter_fields())
    if (field.name == name && !field.unwritten.empty())
      return field.unwritten;
  return std::nullopt;
}

} // namespace

averaging_rule run_settings::averaging() const {
  averaging_rule rule;
  rule.how = aggregator_from(aggregator).value_or(potluck::aggregator::mean);
  rule.trim = trim;
  rule.clip_radius = clip_radius;
  rule.part_norm = part_norm;
  return rule;
}

charter::charter(run_settings settings, std::string tokenizer)
    : settings_(std::move(settings)), tokenizer_(std::move(tokenizer)) {
  std::string bytes = to_bytes();
  digest_ = digest_of(bytes.data(), bytes.size());
}

std::vector<setting> charter::table() const {
  auto result = to_table(settings_);
  auto tokenizer = digest_of(tokenizer_.data(), tokenizer_.size());
  result.push_back({"tokenizer", to_string(tokenizer)});
  return result;
}

std::string charter::to_bytes() const {
  std::string table = table_text(settings_);
  std::string bytes(magic, magic_bytes);
  bytes.reserve(header_bytes + table.size() + tokenizer_.size());
  append_little_endian(bytes, format_version);
  append_little_endian(bytes, static_cast<std::uint32_t>(table.size()));
  append_little_endian(bytes, static_cast<std::uint32_t>(tokenizer_.size()));
  return bytes + table + tokenizer_;
}

expected<charter> charter::from_bytes(const std::string& bytes) {
  if (bytes.size() < header_bytes
      || std::memcmp(bytes.data(), magic, magic_bytes) != 0)
    return failure{"these bytes are no charter"};
  auto data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  auto version = get_little_endian<std::uint32_t>(data + 8);
  std::uint64_t table_size = get_little_endian<std::uint32_t>(data + 12);
  std::uint64_t tokenizer_size = get_little_endian<std::uint32_t>(data + 16);
  if (version != format_version)
    return failure{"the charter is of format " + std::to_string(version)
                   + ", but this version of Potluck reads "
                   + std::to_string(format_version)
                   + "; use the same version everywhere"};
  if (table_size > max_table_bytes || tokenizer_size > max_tokenizer_bytes
      || bytes.size() != header_bytes + table_size + tokenizer_size)
    return failure{"the charter's sizes do not match its length"};
  auto settings = read_table(bytes.substr(header_bytes, table_size));
  if (!settings)
    return failure{settings.error()};
  auto problem = problem_with(*settings);
  if (!problem.empty())
    return failure{problem};
  charter result(std::move(*settings), bytes.substr(header_bytes + table_size));
  // One charter has one digest, so it must have one form in bytes.
  if (result.to_bytes() != bytes)
    return failure{"the charter's table is not in its canonical form"};
  return result;
}

expected<bool> assign(run_settings& settings, const std::string& name,
                      const std::string& value) {
  for (const auto& field : charter_fields())
    if (field.name == name)
      return field.assign(settings, value);
  return failure{"there is no setting called \"" + shown(name) + "\""};
}

std::vector<setting> to_table(const run_settings& settings) {
  std::vector<setting> table;
  for (const auto& field : charter_fields())
    if (field.written(settings))
      table.push_back({field.name, field.print(settings)});
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
  if (settings.hidden_size % settings.heads != 0)
    return "heads is " + std::to_string(settings.heads)
           + ", but must divide hidden-size, which is "
           + std::to_string(settings.hidden_size);
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
