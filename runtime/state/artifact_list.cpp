#include "runtime/state/artifact_list.hpp"

#include <algorithm>
#include <sstream>

#include "runtime/manifest/byte_reader.hpp"
#include "runtime/numbers.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

namespace {

/// Of the list: 16 lines of a name, a length and two sums.
constexpr std::size_t max_text_bytes = 4096;

std::string line_of(const artifact& x) {
  return x.name + " " + std::to_string(x.bytes) + " " + to_string(x.content)
         + " " + to_string(x.pieces) + "\n";
}

} // namespace

std::string problem_with_artifact(const std::string& name,
                                  std::uint64_t bytes) {
  if (auto problem = problem_with(charter_files{{name, ""}}); !problem.empty())
    return problem;
  if (bytes == 0)
    return "artifact " + name + " has no bytes";
  if (bytes > max_artifact_bytes)
    return "artifact " + name + " has " + std::to_string(bytes)
           + " bytes, and an artifact has at most "
           + std::to_string(max_artifact_bytes >> 20) + " MiB";
  return {};
}

std::string to_artifacts_text(const artifact_list& all) {
  std::string text;
  for (const auto& x : all)
    text += line_of(x);
  return text;
}

expected<artifact_list> read_artifacts_text(const std::string& text) {
  if (text.size() > max_text_bytes)
    return failure{"the list of artifacts is too long"};
  artifact_list result;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    artifact x;
    std::string bytes, content, pieces;
    words >> x.name >> bytes >> content >> pieces;
    const auto whole = parse_id<sha256_digest>(content);
    const auto list = parse_id<sha256_digest>(pieces);
    if (!read_number(bytes, x.bytes) || !whole || !list)
      return failure{"a line of the list of artifacts is none"};
    x.content = *whole;
    x.pieces = *list;
    if (auto problem = problem_with_artifact(x.name, x.bytes); !problem.empty())
      return failure{problem};
    if (!result.empty() && result.back().name >= x.name)
      return failure{"the artifacts are not in the order of their names"};
    for (const auto& y : result)
      if (y.content == x.content)
        return failure{"artifacts " + y.name + " and " + x.name
                       + " are the same file"};
    result.push_back(std::move(x));
  }
  if (result.size() > max_artifacts)
    return failure{"a run has at most " + std::to_string(max_artifacts)
                   + " artifacts"};
  // One list has one digest, so it must have one form.
  if (to_artifacts_text(result) != text)
    return failure{"the list of artifacts is not in its canonical form"};
  return result;
}

artifact_list artifacts_of(const charter& x) {
  auto read = read_artifacts_text(x.file(artifacts_file));
  return read ? std::move(*read) : artifact_list{};
}

std::optional<artifact> artifact_of(const charter& x, const std::string& name) {
  for (auto& y : artifacts_of(x))
    if (y.name == name)
      return y;
  return std::nullopt;
}

charter with_artifacts(const charter& x, const artifact_list& all) {
  auto files = x.files();
  files[artifacts_file] = to_artifacts_text(all);
  return {x.settings(), std::move(files)};
}

std::string to_bytes(const piece_sums& sums) {
  std::string result;
  result.reserve(sums.size() * sha256_digest::size);
  for (const auto& x : sums)
    append_id(result, x);
  return result;
}

std::optional<piece_sums> read_piece_sums(const artifact& of,
                                          std::string_view bytes) {
  if (bytes.size() != of.piece_count() * sha256_digest::size
      || sha256(bytes) != of.pieces)
    return std::nullopt;
  piece_sums result;
  result.reserve(of.piece_count());
  for (byte_reader in{bytes}; result.size() < of.piece_count();)
    result.push_back(in.id<sha256_digest>());
  return result;
}

} // namespace potluck
