#include "tools/potluck/address_file.hpp"

#include <ctime>
#include <fstream>

namespace potluck::tools {

void keep_addresses(peer_config& config, const std::string& directory,
                    const std::string& name, notice_board& notices) {
  if (directory.empty())
    return;
  address_keeping keeping;
  keeping.path = directory + "/" + name;
  keeping.unix_seconds
      = [] { return static_cast<std::uint64_t>(std::time(nullptr)); };
  if (std::ifstream file{keeping.path, std::ios::binary}) {
    std::string text(kept_addresses::most_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (auto known = kept_addresses::read(text))
      keeping.known = std::move(*known);
    else
      notices.post(keeping.path + " " + known.error() + ".");
  }
  config.keeping = std::move(keeping);
}

} // namespace potluck::tools
