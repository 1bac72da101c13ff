#include "models/script/zip_archive.hpp"

#include <algorithm>
#include <utility>

#include <zlib.h>

#include "runtime/manifest/byte_reader.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

namespace {

constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t long_end_signature = 0x06064b50;
constexpr std::uint32_t long_end_locator_signature = 0x07064b50;
constexpr std::size_t end_bytes = 22;
constexpr std::size_t long_end_locator_bytes = 20;
constexpr std::size_t longest_comment = 65535;
constexpr std::uint16_t long_sizes = 1; ///< The extra field that has them.
constexpr std::uint32_t in_extra_field = UINT32_MAX;
constexpr std::uint16_t stored = 0, deflated = 8;

constexpr std::size_t longest_name = 512;
/// Of archives that are written.
constexpr auto own_folder = "script/";
constexpr std::uint16_t own_version = 20;

/// Numbers of 64 bits where those of 32 do not do.
bool read_long_sizes(byte_reader extra, zip_record& x) {
  while (!extra.done()) {
    const auto id = extra.integer<std::uint16_t>();
    byte_reader field{extra.bytes(extra.integer<std::uint16_t>())};
    if (extra.lacks())
      return false;
    if (id != long_sizes)
      continue;
    for (auto* number : {&x.bytes, &x.packed, &x.offset})
      if (*number == in_extra_field)
        *number = field.integer<std::uint64_t>();
    return !field.lacks();
  }
  return true;
}

/// Where the directory is, and how many records it has.
struct directory {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

std::optional<directory> find_directory(std::string_view file) {
  if (file.size() < end_bytes)
    return {};
  const auto last = file.size() - end_bytes;
  const auto first = last - std::min(last, longest_comment);
  for (auto at = last + 1; at-- > first;) {
    byte_reader end{file.substr(at)};
    if (end.integer<std::uint32_t>() != end_signature)
      continue;
    end.bytes(6); // Disks.
    directory result;
    result.records = end.integer<std::uint16_t>();
    result.bytes = end.integer<std::uint32_t>();
    result.offset = end.integer<std::uint32_t>();
    if (at < long_end_locator_bytes)
      return result;
    byte_reader locator{file.substr(at - long_end_locator_bytes)};
    if (locator.integer<std::uint32_t>() != long_end_locator_signature)
      return result;
    locator.bytes(4);
    const auto where = locator.integer<std::uint64_t>();
    if (where > file.size())
      return {};
    byte_reader longer{file.substr(where)};
    if (longer.integer<std::uint32_t>() != long_end_signature)
      return {};
    longer.bytes(8 + 2 + 2 + 4 + 4 + 8);
    result.records = longer.integer<std::uint64_t>();
    result.bytes = longer.integer<std::uint64_t>();
    result.offset = longer.integer<std::uint64_t>();
    return longer.lacks() ? std::nullopt : std::optional{result};
  }
  return {};
}

/// Without the archive's own folder, which has to be the same of all; empty:
/// it is no name.
std::string inner_name(std::string_view name, std::string& folder) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0
      || name.size() > longest_name
      || !std::all_of(name.begin(), name.end(),
                      [](char c) { return c > 0x20 && c < 0x7f; })
      || name.find("..") != std::string_view::npos)
    return "";
  if (folder.empty())
    folder = name.substr(0, slash);
  return name.substr(0, slash) == folder ? std::string{name.substr(slash + 1)}
                                         : "";
}

/// From the version needed to the length of the extra field.
std::string common_head(const std::string& name, const std::string& bytes) {
  std::string result;
  append_little_endian(result, own_version);
  append_little_endian(result, std::uint32_t{0}); // Flags, method.
  append_little_endian(result, std::uint32_t{0}); // Time.
  append_little_endian(
      result,
      static_cast<std::uint32_t>(::crc32_z(
          0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size())));
  append_little_endian(result, static_cast<std::uint32_t>(bytes.size()));
  append_little_endian(result, static_cast<std::uint32_t>(bytes.size()));
  append_little_endian(result, static_cast<std::uint16_t>(name.size()));
  append_little_endian(result, std::uint16_t{0});
  return result;
}

} // namespace

failure no_archive(const std::string& why) {
  return failure{"is no TorchScript file: " + why};
}

expected<std::vector<zip_record>> read_directory(std::string_view file,
                                                 const script_limits& most) {
  const auto where = find_directory(file);
  if (!where || where->offset > file.size()
      || where->bytes > file.size() - where->offset)
    return no_archive("it has no directory of its parts, or is cut short");
  if (where->records > most.records)
    return failure{"has more than " + std::to_string(most.records) + " parts"};
  byte_reader entries{file.substr(where->offset, where->bytes)};
  std::vector<zip_record> result;
  std::string folder;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < where->records; ++i) {
    if (entries.integer<std::uint32_t>() != entry_signature)
      return no_archive("its directory is damaged");
    zip_record x;
    entries.bytes(4); // Versions.
    const auto flags = entries.integer<std::uint16_t>();
    x.method = entries.integer<std::uint16_t>();
    entries.bytes(4 + 4); // Time and checksum, which is of no use here.
    x.packed = entries.integer<std::uint32_t>();
    x.bytes = entries.integer<std::uint32_t>();
    const auto name_bytes = entries.integer<std::uint16_t>();
    const auto extra_bytes = entries.integer<std::uint16_t>();
    const auto comment_bytes = entries.integer<std::uint16_t>();
    entries.bytes(2 + 2 + 4);
    x.offset = entries.integer<std::uint32_t>();
    x.name = inner_name(entries.bytes(name_bytes), folder);
    const byte_reader extra{entries.bytes(extra_bytes)};
    entries.bytes(comment_bytes);
    if (entries.lacks() || !read_long_sizes(extra, x))
      return no_archive("its directory is damaged");
    if (x.name.empty() || (flags & 1) != 0
        || (x.method != stored && x.method != deflated))
      return no_archive("its directory lists what LibTorch does not write");
    if (x.bytes > most.bytes || (bytes += x.bytes) > most.bytes)
      return failure{"is larger than " + std::to_string(most.bytes >> 20)
                     + " MiB unpacked"};
    if (x.packed > file.size() || x.offset > file.size()
        || (x.method == stored && x.packed != x.bytes))
      return no_archive("its directory is damaged");
    result.push_back(std::move(x));
  }
  return result;
}

std::optional<std::string> unpack(std::string_view file, const zip_record& x) {
  byte_reader local{file.substr(x.offset)};
  if (local.integer<std::uint32_t>() != local_signature)
    return {};
  local.bytes(22);
  const auto name_bytes = local.integer<std::uint16_t>();
  const auto extra_bytes = local.integer<std::uint16_t>();
  local.bytes(std::size_t{name_bytes} + extra_bytes);
  const auto packed = local.bytes(x.packed);
  if (local.lacks())
    return {};
  if (x.method == stored)
    return std::string{packed};
  std::string result(x.bytes, '\0');
  z_stream stream{};
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  const auto how = ::inflate(&stream, Z_FINISH);
  const auto written = stream.total_out;
  ::inflateEnd(&stream);
  return how == Z_STREAM_END && written == x.bytes ? std::optional{result}
                                                   : std::nullopt;
}

void zip_writer::add(const std::string& name, const std::string& bytes) {
  const auto offset = static_cast<std::uint32_t>(file_.size());
  const auto whole = own_folder + name;
  const auto head = common_head(whole, bytes);
  append_little_endian(file_, local_signature);
  file_ += head;
  file_ += whole;
  file_ += bytes;
  append_little_endian(directory_, entry_signature);
  append_little_endian(directory_, own_version);
  directory_ += head;
  directory_ += std::string(2 + 2 + 2 + 4, '\0');
  append_little_endian(directory_, offset);
  directory_ += whole;
  ++records_;
}

std::string zip_writer::finish() && {
  const auto offset = static_cast<std::uint32_t>(file_.size());
  const auto bytes = static_cast<std::uint32_t>(directory_.size());
  file_ += directory_;
  append_little_endian(file_, end_signature);
  append_little_endian(file_, std::uint32_t{0});
  append_little_endian(file_, records_);
  append_little_endian(file_, records_);
  append_little_endian(file_, bytes);
  append_little_endian(file_, offset);
  append_little_endian(file_, std::uint16_t{0});
  return std::move(file_);
}

} // namespace potluck
