/// ZIP archives as LibTorch writes them, read and written: no encryption, no
/// parts on other disks. Knows nothing of what is in them.
///
/// Source: PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.14 to 4.3.16.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/expected.hpp"
#include "models/script/script_limits.hpp"

namespace potluck {

/// One file in an archive.
struct zip_record {
  std::string name; ///< Behind the archive's own folder.
  std::uint16_t method = 0;
  std::uint64_t packed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0; ///< Of its local header.
};

/// Half a sentence.
failure no_archive(const std::string& why);

/// The records of an archive, in its directory's order. Fails with half a
/// sentence where the bytes are no archive, or a limit is met.
expected<std::vector<zip_record>> read_directory(std::string_view file,
                                                 const script_limits& most);

/// Unpacks; nothing where that does not give just the bytes it says.
std::optional<std::string> unpack(std::string_view file, const zip_record& x);

/// Into one archive of records that are not compressed.
class zip_writer {
public:
  void add(const std::string& name, const std::string& bytes);
  std::string finish() &&;

private:
  std::string file_, directory_;
  std::uint16_t records_ = 0;
};

} // namespace potluck
