#include "tools/potluck/full/demo_text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "messages/ids.hpp"
#include "models/text/corpus.hpp"

namespace potluck::tools {

namespace {

namespace fs = std::filesystem;

char small(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_wanted(std::string name, const text_place& place) {
  if (name.empty() || name[0] == '.')
    return false;
  std::transform(name.begin(), name.end(), name.begin(), small);
  return place.beginnings.empty()
         || std::any_of(place.beginnings.begin(), place.beginnings.end(),
                        [&](const std::string& beginning) {
                          return name.compare(0, beginning.size(), beginning)
                                 == 0;
                        });
}

/// Regular files below the place, by path. What cannot be read is not there.
std::vector<std::string> files_of(const text_place& place) {
  std::vector<std::string> result;
  std::error_code problem;
  fs::recursive_directory_iterator i{
      place.folder, fs::directory_options::skip_permission_denied, problem};
  for (; !problem && i != fs::recursive_directory_iterator{};
       i.increment(problem))
    if (is_wanted(i->path().filename().string(), place)
        && i->symlink_status().type() == fs::file_type::regular)
      result.push_back(i->path().string());
  std::sort(result.begin(), result.end());
  return result;
}

/// The file's text up to `longest` bytes; empty if it is none.
std::string text_of(const std::string& path, std::uint64_t longest) {
  std::ifstream in{path, std::ios::binary};
  std::string text(longest + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > longest) {
    auto end = text.rfind('\n', longest - 1);
    text.resize(end == std::string::npos ? 0 : end + 1);
  }
  return kind_of_text(text) == text_kind::text ? text : "";
}

} // namespace

std::vector<text_place> usual_text_places() {
  return {{"/usr/share/common-licenses", {}},
          {"/usr/share/doc", {"readme", "news", "changelog", "copyright"}}};
}

expected<gathered_text> gather_text(const std::vector<text_place>& places,
                                    const std::string& into,
                                    const text_limits& limits) {
  std::error_code problem;
  fs::create_directories(into, problem);
  if (problem)
    return failure{"The folder " + into
                   + " cannot be made: " + problem.message() + "."};
  gathered_text result;
  std::set<digest> seen;
  for (const auto& place : places)
    for (const auto& path : files_of(place)) {
      if (result.bytes >= limits.wanted)
        return result;
      auto text = text_of(path, limits.longest);
      if (text.empty()
          || !seen.insert(digest_of(text.data(), text.size())).second)
        continue;
      auto number = std::to_string(result.files);
      number.insert(0, number.size() < 4 ? 4 - number.size() : 0, '0');
      auto copy = into + "/" + number + ".txt";
      if (!(std::ofstream{copy, std::ios::binary} << text << std::flush))
        return failure{"The text cannot be written to " + copy + "."};
      ++result.files;
      result.bytes += text.size();
    }
  if (result.bytes >= limits.needed)
    return result;
  std::string where;
  for (const auto& place : places)
    where += (where.empty() ? "" : " and ") + place.folder;
  return failure{"There is too little text below " + where + " ("
                 + std::to_string(result.bytes >> 10) + " KiB of the "
                 + std::to_string(limits.needed >> 10)
                 + " KiB needed); name a file or a folder of text with --data "
                   "PATH."};
}

} // namespace potluck::tools
