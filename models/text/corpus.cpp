#include "models/text/corpus.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace potluck {

namespace {

namespace fs = std::filesystem;

/// Length of the UTF-8 sequence at the start of `s`; 0 when it is not valid
/// (Unicode 15, table 3-7).
std::size_t sequence_size(std::string_view s) {
  auto byte = [&](std::size_t i) {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u;
  };
  auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80)
    return 1;
  if (first >= 0xC2 && first <= 0xDF)
    return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

enum class reading { complete, failed, too_long };

/// Appends the file to `text` unless it would grow beyond `limit`.
reading append_file(const fs::path& path, std::uint64_t limit,
                    std::string& text) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return reading::failed;
  char buffer[1 << 16];
  while (in.read(buffer, sizeof buffer), in.gcount() > 0) {
    const auto got = static_cast<std::size_t>(in.gcount());
    if (text.size() + got > limit)
      return reading::too_long;
    text.append(buffer, got);
  }
  return in.bad() ? reading::failed : reading::complete;
}

failure too_long(const std::string& path, std::uint64_t limit) {
  return {
      path + " holds more than " + std::to_string(limit >> 20)
      + " MiB of text, the most that fits in one run: train on a part of it."};
}

/// Without the byte order mark that some editors put before UTF-8.
void drop_mark(std::string& text, std::size_t from) {
  if (text.compare(from, 3, "\xEF\xBB\xBF") == 0)
    text.erase(from, 3);
}

expected<std::string> read_one(const std::string& path, std::uint64_t limit) {
  std::string text;
  switch (append_file(path, limit, text)) {
    case reading::complete:
      break;
    case reading::failed:
      return failure{path + " cannot be read: check its permissions."};
    case reading::too_long:
      return too_long(path, limit);
  }
  if (text.empty())
    return failure{path + " is empty: name a file or folder with text in it."};
  switch (kind_of_text(text)) {
    case text_kind::text:
      break;
    case text_kind::utf16:
      return failure{
          path + " is UTF-16 text: convert it with iconv -f UTF-16 -t UTF-8."};
    case text_kind::binary:
      return failure{
          path
          + " is not UTF-8 text: unpack or convert it, or name another file."};
  }
  drop_mark(text, 0);
  return text;
}

bool hidden(const fs::path& path) {
  const auto name = path.filename().string();
  return !name.empty() && name.front() == '.';
}

/// All regular files below `root` that are neither hidden nor links, in order.
std::vector<fs::path> files_below(const fs::path& root,
                                  std::error_code& error) {
  std::vector<fs::path> found;
  fs::recursive_directory_iterator at(
      root, fs::directory_options::skip_permission_denied, error);
  while (!error && at != fs::recursive_directory_iterator()) {
    std::error_code unknown;
    const auto status = at->symlink_status(unknown);
    if (hidden(at->path()))
      at.disable_recursion_pending();
    else if (!unknown && fs::is_regular_file(status))
      found.push_back(at->path());
    at.increment(error);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.generic_string() < b.generic_string();
  });
  return found;
}

expected<std::string> read_folder(const std::string& path,
                                  std::uint64_t limit) {
  std::error_code error;
  const auto files = files_below(path, error);
  if (error)
    return failure{path + " cannot be read: " + error.message() + "."};
  std::string text;
  for (const auto& file : files) {
    const auto before = text.size();
    const auto outcome = append_file(file, limit, text);
    const std::string_view added = std::string_view(text).substr(before);
    const bool is_text = kind_of_text(added) == text_kind::text;
    if (outcome == reading::too_long && is_text)
      return too_long(path, limit);
    if (outcome != reading::complete || !is_text) {
      text.resize(before);
      continue;
    }
    drop_mark(text, before);
    if (text.size() > before && text.back() != '\n')
      text += '\n';
  }
  if (text.empty())
    return failure{path
                   + " holds no text: put files of UTF-8 text into it, or name "
                     "another folder."};
  return text;
}

} // namespace

text_kind kind_of_text(std::string_view bytes) {
  const auto mark = bytes.substr(0, 2);
  if (mark == "\xFF\xFE" || mark == "\xFE\xFF")
    return text_kind::utf16;
  std::size_t strange = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes[at] == '\0')
      return text_kind::binary;
    const auto size = sequence_size(bytes.substr(at));
    strange += size == 0;
    at += std::max<std::size_t>(size, 1);
  }
  return strange * 100 > bytes.size() ? text_kind::binary : text_kind::text;
}

expected<std::string> read_corpus(const std::string& path,
                                  std::uint64_t limit) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (path.empty() || status.type() == fs::file_type::not_found)
    return failure{"There is no file or folder called '" + path
                   + "': name the text to train on."};
  if (fs::is_directory(status))
    return read_folder(path, limit);
  if (fs::is_regular_file(status))
    return read_one(path, limit);
  return failure{path
                 + " is neither a file nor a folder that can be read: name the "
                   "text to train on."};
}

} // namespace potluck
