#include "runtime/state/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages/codec.hpp"
#include "messages/digest_stream.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/file_descriptor.hpp"
#include "runtime/state/little_endian.hpp"
#include "runtime/state/state_layout.hpp"

namespace potluck {

namespace {

constexpr char checkpoint_magic[] = "PLKCKPT\n";
constexpr std::size_t checkpoint_magic_bytes = 8;
constexpr std::uint32_t checkpoint_format = 3;
/// From here on there are signed steps.
constexpr std::uint32_t history_version = 3;
constexpr std::uint32_t earliest_version = 1;
/// Of all versions; those of a history follow.
constexpr std::size_t header_bytes = 32;
constexpr std::uint64_t max_charter_bytes = 16u << 20;
/// So many steps of so many makers take a quarter of that.
constexpr std::uint64_t max_history_bytes = 1u << 20;
constexpr std::size_t max_read = std::size_t{1} << 30;

const std::uint8_t* bytes_of(const std::string& text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

/// Parameters and so many moments, in the order of the file.
template <class State>
auto vectors_of(State& state, std::size_t moments) {
  std::vector<decltype(&state.parameters)> result{
      &state.parameters, &state.first_moment, &state.second_moment};
  result.resize(1 + moments);
  return result;
}

/// Bytes that are read and digested at once: they are in the cache meanwhile.
constexpr std::size_t hashed_bytes = std::size_t{256} << 10;

/// Reads `size` bytes; false at the file's end or on an error.
bool read_fully(int fd, void* out, std::size_t size) {
  auto next = static_cast<char*>(out);
  while (size > 0) {
    auto count = ::read(fd, next, std::min(size, max_read));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    next += count;
    size -= static_cast<std::size_t>(count);
  }
  return true;
}

using reader = std::function<bool(void*, std::size_t)>;

/// So many values, and their digest; false at the file's end or on an error.
bool read_values(const reader& read, std::uint64_t count,
                 std::vector<float>& out, digest& of) {
  constexpr auto piece = hashed_bytes / sizeof(float);
  digest_stream sum;
  out.reserve(count);
  while (out.size() < count) {
    const auto from = out.size();
    const auto more = std::min<std::uint64_t>(piece, count - from);
    out.resize(from + more);
    if (!read(out.data() + from, more * sizeof(float)))
      return false;
    sum.add(out.data() + from, more * sizeof(float));
  }
  of = sum.result();
  return true;
}

/// Empty where there is none.
std::string bytes_of(const std::vector<signed_step>& history) {
  if (history.empty())
    return {};
  const auto letter = encode(history_reply{0, {}, history});
  return {letter.begin(), letter.end()};
}

/// Fails with half a sentence.
expected<std::vector<signed_step>> history_in(const std::string& bytes) {
  if (bytes.empty())
    return std::vector<signed_step>{};
  const std::vector<std::uint8_t> letter{bytes.begin(), bytes.end()};
  auto read = decode(letter.data(), letter.size(), 0);
  if (!read)
    return failure{read.error()};
  auto* shown = std::get_if<history_reply>(&*read);
  if (!shown)
    return failure{"it has another letter in place of its history"};
  return std::move(shown->steps);
}

failure damaged(const std::string& path, const std::string& how) {
  return {"the checkpoint " + path + " is " + how
          + "; continue from another copy, or start without it"};
}

} // namespace

expected<bool> save_checkpoint(const std::string& path, const charter& charter,
                               const training_state& state, disk& where,
                               const std::vector<signed_step>& history) {
  auto history_bytes = bytes_of(history);
  auto charter_bytes = charter.to_bytes();
  auto recent = std::min(state.recent.size(), max_recent_digests);
  std::string front(checkpoint_magic, checkpoint_magic_bytes);
  append_little_endian(front, checkpoint_format);
  append_little_endian(front, static_cast<std::uint32_t>(recent));
  append_little_endian(front, static_cast<std::uint64_t>(charter_bytes.size()));
  append_little_endian(front,
                       static_cast<std::uint64_t>(state.parameters.size()));
  append_little_endian(front, static_cast<std::uint64_t>(history_bytes.size()));
  front += charter_bytes;
  for (std::size_t i = 0; i < recent; ++i)
    front.append(state.recent[i].bytes.begin(), state.recent[i].bytes.end());
  front += history_bytes;
  auto header = write_state_header(state);
  front.append(header.begin(), header.end());
  std::vector<digest> parts{digest_of(front.data(), front.size())};
  std::vector<file_section> sections{{front.data(), front.size()}};
  for (auto* part : vectors_of(state, state.moments())) {
    sections.push_back({part->data(), part->size() * sizeof(float)});
    parts.push_back(digest_of(part->data(), sections.back().size));
  }
  const auto last = digest_of(parts);
  sections.push_back({last.bytes.data(), last.bytes.size()});
  return where.replace(path, sections);
}

namespace {

/// Sizes that the header names, checked against the file's before anything is
/// allocated.
struct outline {
  std::uint64_t header_bytes;
  std::uint64_t recent;
  std::uint64_t charter_bytes;
  std::uint64_t history_bytes;
  std::uint64_t values;
  std::size_t moments;
  std::uint64_t front_bytes;
  std::uint64_t whole;
};

/// The state's, at the end of what stands before the vectors.
state_header header_in(const std::string& front) {
  state_header result;
  std::copy_n(bytes_of(front) + front.size() - result.size(), result.size(),
              result.begin());
  return result;
}

/// Reads everything before the vectors to `front`.
expected<outline> read_outline(const std::string& path,
                               std::uint64_t file_bytes, const reader& read,
                               std::string& front) {
  front.assign(header_bytes, '\0');
  auto known = std::min<std::uint64_t>(file_bytes, checkpoint_magic_bytes);
  if (!read(front.data(), std::min<std::uint64_t>(file_bytes, header_bytes)))
    return file_failure("read the checkpoint", path);
  if (known == 0 || std::memcmp(front.data(), checkpoint_magic, known) != 0)
    return failure{path + " is not a checkpoint of Potluck"};
  if (file_bytes < header_bytes)
    return damaged(path, "truncated");
  auto version = get_little_endian<std::uint32_t>(bytes_of(front) + 8);
  outline x{};
  x.recent = get_little_endian<std::uint32_t>(bytes_of(front) + 12);
  x.charter_bytes = get_little_endian<std::uint64_t>(bytes_of(front) + 16);
  x.values = get_little_endian<std::uint64_t>(bytes_of(front) + 24);
  if (version > checkpoint_format || version < earliest_version)
    return failure{"the checkpoint " + path + " is of format "
                   + std::to_string(version)
                   + ", but this version of Potluck reads "
                   + std::to_string(checkpoint_format)
                   + "; use the version that wrote it"};
  x.header_bytes = header_bytes;
  if (version >= history_version) {
    x.header_bytes += sizeof x.history_bytes;
    if (file_bytes < x.header_bytes)
      return damaged(path, "truncated");
    front.resize(x.header_bytes);
    if (!read(front.data() + header_bytes, sizeof x.history_bytes))
      return file_failure("read the checkpoint", path);
    x.history_bytes
        = get_little_endian<std::uint64_t>(bytes_of(front) + header_bytes);
  }
  if (x.recent > max_recent_digests || x.charter_bytes > max_charter_bytes
      || x.history_bytes > max_history_bytes || x.values > max_state_values)
    return damaged(path, "damaged");
  x.front_bytes = x.header_bytes + x.charter_bytes + x.recent * digest::size
                  + x.history_bytes + state_header_bytes;
  if (file_bytes < x.front_bytes)
    return damaged(path, "truncated");
  front.resize(x.front_bytes);
  if (!read(front.data() + x.header_bytes, x.front_bytes - x.header_bytes))
    return file_failure("read the checkpoint", path);
  const auto moments = moments_in(header_in(front));
  if (!moments)
    return damaged(path, "damaged");
  x.moments = x.values > 0 ? *moments : 0;
  x.whole = x.front_bytes + (1 + x.moments) * sizeof(float) * x.values
            + digest::size;
  if (file_bytes < x.whole)
    return damaged(path, "truncated");
  return x;
}

expected<charter> charter_in(const std::string& front, const outline& sizes) {
  return charter::from_bytes(
      front.substr(sizes.header_bytes, sizes.charter_bytes));
}

/// What stands before the vectors, with their header.
expected<checkpoint> read_front(const std::string& path,
                                const std::string& front, const outline& sizes,
                                training_state state) {
  auto agreed = charter_in(front, sizes);
  if (!agreed)
    return failure{"the checkpoint " + path
                   + " cannot be used: " + agreed.error()};
  auto next = bytes_of(front) + sizes.header_bytes + sizes.charter_bytes;
  state.recent.resize(sizes.recent);
  for (auto& x : state.recent) {
    std::copy_n(next, digest::size, x.bytes.begin());
    next += digest::size;
  }
  auto history
      = history_in({reinterpret_cast<const char*>(next), sizes.history_bytes});
  if (!history)
    return failure{"the checkpoint " + path
                   + " cannot be used: " + history.error()};
  if (auto done = read_state_header(header_in(front), sizes.values, state);
      !done)
    return failure{"the checkpoint " + path
                   + " cannot be used: " + done.error()};
  return checkpoint{std::move(*agreed), std::move(state), std::move(*history)};
}

/// Opens the file and has `visit` read it.
template <class Result, class Visit>
expected<Result> read_file(const std::string& path, Visit visit) {
  file_descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0)
    return file_failure("read the checkpoint", path);
  if (!S_ISREG(status.st_mode))
    return failure{path + " is not a file; name the checkpoint itself"};
  return visit(static_cast<std::uint64_t>(status.st_size),
               [&](void* out, std::size_t size) {
                 return read_fully(fd.get(), out, size);
               });
}

} // namespace

expected<checkpoint> load_checkpoint(const std::string& path) {
  return read_file<checkpoint>(
      path, [&](std::uint64_t file_bytes, const reader& read) {
        return read_checkpoint(path, file_bytes, read);
      });
}

expected<checkpoint_summary> read_checkpoint_summary(const std::string& path) {
  return read_file<checkpoint_summary>(
      path,
      [&](std::uint64_t file_bytes,
          const reader& read) -> expected<checkpoint_summary> {
        std::string front;
        auto sizes = read_outline(path, file_bytes, read, front);
        if (!sizes)
          return failure{sizes.error()};
        auto agreed = charter_in(front, *sizes);
        const auto at = [&](std::size_t offset) {
          return get_little_endian<std::uint64_t>(
              bytes_of(front) + front.size() - state_header_bytes + offset);
        };
        if (!agreed || at(32) != sizes->values)
          return damaged(path, "damaged");
        return checkpoint_summary{std::move(*agreed), at(16), at(24),
                                  sizes->values, file_bytes};
      });
}

expected<checkpoint> read_checkpoint(const std::string& path,
                                     std::uint64_t file_bytes,
                                     const reader& read, safeguard_set guards) {
  std::string front;
  auto sizes = read_outline(path, file_bytes, read, front);
  if (!sizes)
    return failure{sizes.error()};
  training_state state;
  bool complete = true;
  std::vector<digest> parts{digest_of(front.data(), front.size())};
  for (auto* part : vectors_of(state, sizes->moments)) {
    complete = complete
               && read_values(read, sizes->values, *part, parts.emplace_back());
  }
  digest last;
  complete = complete && read(last.bytes.data(), last.bytes.size());
  if (!complete)
    return file_failure("read the checkpoint", path);
  if (last != digest_of(parts) && guards.has(safeguard::checkpoint_sum))
    return damaged(path, "damaged");
  if (file_bytes > sizes->whole)
    return damaged(path, "damaged");
  // From here on the bytes are as they were written.
  auto result = read_front(path, front, *sizes, std::move(state));
  if (!result)
    return result;
  const auto kept = moments_kept(result->charter.settings());
  if (sizes->values > 0 && sizes->moments < kept)
    return failure{"the checkpoint " + path + " cannot be used: it has "
                   + std::to_string(sizes->moments)
                   + " moments of each parameter, but its optimizer keeps "
                   + std::to_string(kept)};
  set_moments(result->state, kept);
  return result;
}

} // namespace potluck
