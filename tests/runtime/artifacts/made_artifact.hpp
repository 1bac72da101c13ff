/// Artifacts whose bytes follow from a seed.
#pragma once

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "messages/message.hpp"
#include "runtime/random.hpp"
#include "runtime/state/artifact_list.hpp"

namespace potluck {

inline std::string made_bytes(std::size_t size, std::uint64_t seed) {
  random_stream chance{seed};
  std::string result(size, '\0');
  for (auto& c : result)
    c = static_cast<char>(chance.next());
  return result;
}

struct made_artifact {
  made_artifact(const std::string& name, std::size_t size, std::uint64_t seed)
      : bytes(made_bytes(size, seed)) {
    it.name = name;
    it.bytes = size;
    it.content = sha256(bytes);
    for (std::uint32_t i = 0; i < it.piece_count(); ++i)
      sums.push_back(sha256(piece(i)));
    it.pieces = sha256(to_bytes(sums));
  }

  std::string piece(std::uint32_t i) const {
    return bytes.substr(std::size_t{i} * artifact_piece_bytes,
                        artifact_piece_bytes);
  }
  std::string list() const {
    return to_bytes(sums);
  }

  std::string bytes;
  artifact it;
  piece_sums sums;
};

inline shared_bytes shared(const std::string& x) {
  auto owner = std::make_shared<const std::string>(x);
  return {owner, reinterpret_cast<const std::uint8_t*>(owner->data()),
          owner->size()};
}

inline std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}
inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out{path, std::ios::binary | std::ios::trunc};
  out << bytes;
}

} // namespace potluck
