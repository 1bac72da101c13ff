#include "tools/caf_run/hosts.hpp"

#include <charconv>
#include <sstream>

namespace potluck::caf_run {

std::string host_line::label() const {
  return "line " + std::to_string(number) + " (" + host
         + (command.empty() ? "" : ", " + command) + ")";
}

bool host_line::is_local() const {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

expected<std::vector<host_line>> read_hosts(std::istream& in) {
  std::vector<host_line> hosts;
  std::size_t number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    auto wrong = [&](const std::string& what) {
      return failure{"line " + std::to_string(number) + ": " + what};
    };
    std::istringstream words{text.substr(0, text.find('#'))};
    host_line line;
    line.number = number;
    if (!(words >> line.host))
      continue;
    // ssh would take such a host for one of its options.
    if (line.host[0] == '-' || line.host.find('=') != std::string::npos)
      return wrong("a line begins with the name of a host, not with '"
                   + line.host + "'.");
    for (std::string word; words >> word;) {
      auto equals = word.find('=');
      auto key = word.substr(0, equals);
      auto value = equals == word.npos ? "" : word.substr(equals + 1);
      if (word == "wait") {
        line.wait = true;
      } else if (word == "serve") {
        line.serve = true;
      } else if (key == "slots") {
        auto end = value.data() + value.size();
        auto [stop, error] = std::from_chars(value.data(), end, line.slots);
        if (error != std::errc{} || stop != end || line.slots == 0)
          return wrong("'" + word
                       + "' needs a number above zero: write slots=1.");
      } else if (key == "command" && !value.empty()) {
        line.command = value;
      } else if (key == "config" && !value.empty()) {
        line.config = value;
      } else {
        return wrong("'" + word
                     + "' is not known: behind the host stand slots=N, "
                       "command=WORD, config=FILE, wait or serve.");
      }
    }
    if (hosts.empty() && (line.wait || line.serve))
      return wrong("the first line is the master, which starts last and whose "
                   "end counts: move 'wait' and 'serve' to other lines.");
    hosts.push_back(std::move(line));
  }
  if (hosts.empty())
    return failure{"it names no host: write a line such as 'localhost'."};
  return hosts;
}

} // namespace potluck::caf_run
