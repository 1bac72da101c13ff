#include "models/script/script_archive.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <zlib.h>

#include "runtime/manifest/byte_reader.hpp"

namespace potluck {

namespace {

// PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.14 to 4.3.16.
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
constexpr std::size_t longest_version = 16;

struct record {
  std::string name; ///< Behind the archive's own folder.
  std::uint16_t method = stored;
  std::uint64_t packed = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0; ///< Of its local header.
};

failure no_archive(const std::string& why) {
  return failure{"is no TorchScript file: " + why};
}

/// What has to be loaded; the rest (positions in the source, files of the
/// user's) is left out.
enum class record_kind { unneeded, version, code, pickle, tensor };

bool begins(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

bool ends(std::string_view text, std::string_view with) {
  return text.size() >= with.size()
         && text.substr(text.size() - with.size()) == with;
}

bool is_number(std::string_view x) {
  return !x.empty() && x.size() <= 9
         && x.find_first_not_of("0123456789") == std::string_view::npos;
}

record_kind kind_of(const std::string& name) {
  if (name == "version" || name == ".data/version" || name == "byteorder")
    return record_kind::version;
  if (name == "data.pkl" || name == "constants.pkl")
    return record_kind::pickle;
  for (std::string_view folder : {"data/", "constants/"})
    if (begins(name, folder)
        && is_number(std::string_view{name}.substr(folder.size())))
      return record_kind::tensor;
  if (begins(name, "code/") && ends(name, ".py"))
    return record_kind::code;
  return record_kind::unneeded;
}

/// Numbers of 64 bits where those of 32 do not do.
bool read_long_sizes(byte_reader extra, record& x) {
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

expected<std::vector<record>> read_directory(std::string_view file,
                                             const script_limits& most) {
  const auto where = find_directory(file);
  if (!where || where->offset > file.size()
      || where->bytes > file.size() - where->offset)
    return no_archive("it has no directory of its parts, or is cut short");
  if (where->records > most.records)
    return failure{"has more than " + std::to_string(most.records) + " parts"};
  byte_reader entries{file.substr(where->offset, where->bytes)};
  std::vector<record> result;
  std::string folder;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < where->records; ++i) {
    if (entries.integer<std::uint32_t>() != entry_signature)
      return no_archive("its directory is damaged");
    record x;
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

/// Unpacks; nothing where that does not give just the bytes it says.
std::optional<std::string> unpack(std::string_view file, const record& x) {
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

// ---- what is in them --------------------------------------------------------

/// Empty, or why this code may not be loaded.
std::string problem_with_code(const std::string& code,
                              const script_limits& most) {
  if (code.find("__setstate__") != std::string::npos)
    return "has a __setstate__, which would run while the file is loaded; "
           "leave it out of the module";
  if (code.find("torch.classes") != std::string::npos)
    return "uses classes of C++ (torch.classes), which are not TorchScript's "
           "own; leave them out of the module";
  std::size_t depth = 0;
  for (char c : code) {
    if (c == '(' || c == '[' || c == '{') {
      if (++depth > most.nesting)
        return "has expressions nested more than "
               + std::to_string(most.nesting) + " deep";
    } else if (depth > 0 && (c == ')' || c == ']' || c == '}')) {
      --depth;
    }
  }
  return "";
}

/// A type or function that a pickle may name.
bool may_be_named(std::string_view module, std::string_view name) {
  if (begins(module, "__torch__")) // Classes of the file, and of C++.
    return (std::string{module} + "." + std::string{name}).find("torch.classes")
           == std::string::npos;
  if (module == "torch")
    return ends(name, "Storage") || name == "device";
  if (module == "torch._utils")
    return name == "_rebuild_tensor_v2" || name == "_rebuild_parameter";
  if (module == "collections")
    return name == "OrderedDict";
  return module == "torch.jit._pickle"
         && (name == "restore_type_tag" || begins(name, "build_"));
}

/// Bytes behind those of pickle's instructions that LibTorch writes and reads;
/// of others it knows nothing. (Python's pickletools describes them.)
struct instruction {
  char code;
  std::size_t bytes;        ///< That follow.
  std::size_t length_bytes; ///< Or of the length of what follows.
};

constexpr std::array<instruction, 32> instructions{{
    {']', 0, 0},    {')', 0, 0},    {'q', 1, 0}, {'r', 4, 0},    {'\x88', 0, 0},
    {'\x89', 0, 0}, {'N', 0, 0},    {'K', 1, 0}, {'M', 2, 0},    {'J', 4, 0},
    {'\x8a', 0, 1}, {'X', 0, 4},    {'G', 8, 0}, {'t', 0, 0},    {'\x85', 0, 0},
    {'\x86', 0, 0}, {'\x87', 0, 0}, {'}', 0, 0}, {'a', 0, 0},    {'e', 0, 0},
    {'b', 0, 0},    {'s', 0, 0},    {'u', 0, 0}, {'h', 1, 0},    {'j', 4, 0},
    {'\x81', 0, 0}, {'R', 0, 0},    {'Q', 0, 0}, {'\x80', 1, 0}, {'T', 0, 4},
    {'U', 0, 1},    {'0', 0, 0},
}};

std::string_view next_line(byte_reader& from, std::string_view whole,
                           std::size_t& at) {
  const auto end = whole.find('\n', at);
  if (end == std::string_view::npos) {
    from.bytes(whole.size() + 1);
    return {};
  }
  const auto result = whole.substr(at, end - at);
  from.bytes(result.size() + 1);
  at = end + 1;
  return result;
}

/// Empty, or why this pickle may not be loaded.
std::string problem_with_pickle(std::string_view bytes,
                                const script_limits& most) {
  const std::string damaged = "is damaged: its pickled values end too soon";
  std::size_t marks = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const char code = bytes[at++];
    byte_reader rest{bytes.substr(at)};
    if (code == '.')
      return at == bytes.size() ? "" : damaged;
    if (code == '(' && ++marks > most.nesting)
      return "has values nested more than " + std::to_string(most.nesting)
             + " deep";
    if (marks > 0 && (code == 't' || code == 'e' || code == 'u'))
      --marks;
    if (code == '(')
      continue;
    if (code == 'c') {
      const auto module = next_line(rest, bytes, at);
      const auto name = next_line(rest, bytes, at);
      if (rest.lacks())
        return damaged;
      if (!may_be_named(module, name))
        return "holds a value of the kind " + std::string{module.substr(0, 100)}
               + "." + std::string{name.substr(0, 100)}
               + ", and may hold tensors, numbers, texts and modules only";
      continue;
    }
    const auto how
        = std::find_if(instructions.begin(), instructions.end(),
                       [&](const instruction& x) { return x.code == code; });
    if (how == instructions.end())
      return "holds pickled values that LibTorch does not write";
    std::size_t size = how->bytes;
    if (how->length_bytes == 1)
      size = rest.integer<std::uint8_t>();
    else if (how->length_bytes == 4)
      size = rest.integer<std::uint32_t>();
    rest.bytes(size);
    if (rest.lacks())
      return damaged;
    at += how->length_bytes + size;
  }
  return damaged;
}

std::string problem_with(record_kind kind, const std::string& bytes,
                         const script_limits& most) {
  switch (kind) {
    case record_kind::code:
      return problem_with_code(bytes, most);
    case record_kind::pickle:
      return problem_with_pickle(bytes, most);
    case record_kind::version:
      return bytes.size() > longest_version ? "has no sound version" : "";
    default:
      return "";
  }
}

// ---- written anew -----------------------------------------------------------

/// Into one ZIP archive of records that are not compressed.
class archive_writer {
public:
  void add(const std::string& name, const std::string& bytes) {
    const auto offset = static_cast<std::uint32_t>(file_.size());
    const auto whole = folder + name;
    const auto head = common_head(whole, bytes);
    append_little_endian(file_, local_signature);
    file_ += head;
    file_ += whole;
    file_ += bytes;
    append_little_endian(directory_, entry_signature);
    append_little_endian(directory_, version);
    directory_ += head;
    directory_ += std::string(2 + 2 + 2 + 4, '\0');
    append_little_endian(directory_, offset);
    directory_ += whole;
    ++records_;
  }

  std::string finish() && {
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

private:
  static constexpr auto folder = "script/";
  static constexpr std::uint16_t version = 20;

  /// From the version needed to the length of the extra field.
  static std::string common_head(const std::string& name,
                                 const std::string& bytes) {
    std::string result;
    append_little_endian(result, version);
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

  std::string file_, directory_;
  std::uint16_t records_ = 0;
};

} // namespace

expected<std::string> checked_archive(std::string_view file,
                                      const script_limits& most) {
  auto records = read_directory(file, most);
  if (!records)
    return failure{records.error()};
  std::map<std::string, const record*> needed;
  std::uint64_t code_bytes = 0;
  for (const auto& x : *records) {
    const auto kind = kind_of(x.name);
    if (kind == record_kind::unneeded)
      continue;
    if (!needed.emplace(x.name, &x).second)
      return no_archive("it has two parts " + x.name);
    if (kind != record_kind::tensor
        && (code_bytes += x.bytes) > most.code_bytes)
      return failure{"has more than " + std::to_string(most.code_bytes >> 20)
                     + " MiB of code"};
  }
  for (auto name : {"data.pkl", "constants.pkl"})
    if (needed.count(name) == 0)
      return no_archive("it has no part " + std::string{name}
                        + "; make one with torch.jit.script(model).save(FILE)");
  archive_writer result;
  for (const auto& [name, x] : needed) {
    const auto bytes = unpack(file, *x);
    if (!bytes)
      return no_archive("its part " + name + " is damaged");
    if (auto problem = problem_with(kind_of(name), *bytes, most);
        !problem.empty())
      return failure{problem};
    result.add(name, *bytes);
  }
  return std::move(result).finish();
}

} // namespace potluck
