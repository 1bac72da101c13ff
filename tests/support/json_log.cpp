#include "tests/support/json_log.hpp"

#include <fstream>
#include <iterator>

#include "tests/support/await.hpp"

namespace potluck::support {

using nlohmann::json;

json_log::json_log(std::string path) : path_(std::move(path)) {
}

const std::vector<json>& json_log::lines() {
  std::ifstream file{path_, std::ios::binary};
  file.seekg(static_cast<std::streamoff>(read_));
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::size_t start = 0;
  for (auto end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', start)) {
    lines_.push_back(json::parse(text.substr(start, end - start)));
    start = end + 1;
  }
  read_ += start;
  return lines_;
}

std::vector<json> json_log::named(const std::string& name) {
  std::vector<json> result;
  for (auto& line : lines())
    if (line.at("event") == name)
      result.push_back(line);
  return result;
}

json json_log::await(const predicate& wanted,
                     std::chrono::milliseconds patience, std::size_t first) {
  json found;
  support::await(
      [&] {
        auto& all = lines();
        for (; first < all.size(); ++first)
          if (wanted(all[first])) {
            found = all[first];
            return true;
          }
        return false;
      },
      patience);
  return found;
}

json json_log::await(const std::string& name,
                     std::chrono::milliseconds patience, std::size_t first) {
  return await([&](const json& line) { return line.at("event") == name; },
               patience, first);
}

} // namespace potluck::support
