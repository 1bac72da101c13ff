#include "runtime/state/charter.hpp"

#include <algorithm>

#include "messages/seal.hpp"
#include "runtime/manifest/byte_reader.hpp"
#include "runtime/state/artifact_list.hpp"
#include "runtime/state/charter_fields.hpp"
#include "runtime/state/setting_kinds.hpp"

namespace potluck {

namespace {

// The layout is described in README.md, section "Bytes".
constexpr char charter_magic[] = "PLKCHART";
constexpr std::size_t charter_magic_bytes = 8;
constexpr std::uint32_t charter_format = 2;
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

bool is_file_name(const std::string& x) {
  return !x.empty() && x.size() <= max_file_name_bytes
         && std::all_of(x.begin(), x.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || c == '-';
            });
}

} // namespace

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
  std::string bytes(charter_magic, charter_magic_bytes);
  append_little_endian(bytes, charter_format);
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
  if (all.bytes(charter_magic_bytes)
      != std::string_view(charter_magic, charter_magic_bytes))
    return failure{"these bytes are no charter"};
  const auto version = all.integer<std::uint32_t>();
  if (version != charter_format)
    return failure{"the charter is of format " + std::to_string(version)
                   + ", but this version of Potluck reads "
                   + std::to_string(charter_format)
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

} // namespace potluck
