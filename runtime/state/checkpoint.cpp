#include "runtime/state/checkpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/file_descriptor.hpp"
#include "runtime/state/little_endian.hpp"
#include "runtime/state/state_layout.hpp"

namespace potluck {

namespace {

constexpr char magic[] = "PLKCKPT\n";
constexpr std::size_t magic_bytes = 8;
constexpr std::uint32_t format_version = 2;
/// It had two moments, whatever the optimizer.
constexpr std::uint32_t earlier_version = 1;
constexpr std::size_t header_bytes = 32;
constexpr std::uint64_t max_charter_bytes = 16u << 20;
constexpr std::size_t max_read = std::size_t{1} << 30;

const std::uint8_t* bytes_of(const std::string& text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

/// Parameters and the moments that are there.
template <class State>
auto vectors_of(State& state) {
  std::vector<decltype(&state.parameters)> result{&state.parameters};
  for (auto* x : {&state.first_moment, &state.second_moment})
    if (x->size() == state.parameters.size() && !x->empty())
      result.push_back(x);
  return result;
}

digest trailer_of(const std::string& front, const training_state& state) {
  std::string all;
  auto add = [&](const void* data, std::size_t size) {
    auto part = digest_of(data, size);
    all.append(part.bytes.begin(), part.bytes.end());
  };
  add(front.data(), front.size());
  for (auto* part : vectors_of(state))
    add(part->data(), part->size() * sizeof(float));
  return digest_of(all.data(), all.size());
}

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

failure damaged(const std::string& path, const std::string& how) {
  return {"the checkpoint " + path + " is " + how
          + "; continue from another copy, or start without it"};
}

} // namespace

expected<bool> save_checkpoint(const std::string& path, const charter& charter,
                               const training_state& state, disk& where) {
  auto charter_bytes = charter.to_bytes();
  auto recent = std::min(state.recent.size(), max_recent_digests);
  std::string front(magic, magic_bytes);
  append_little_endian(front, format_version);
  append_little_endian(front, static_cast<std::uint32_t>(recent));
  append_little_endian(front, static_cast<std::uint64_t>(charter_bytes.size()));
  append_little_endian(front,
                       static_cast<std::uint64_t>(state.parameters.size()));
  front += charter_bytes;
  for (std::size_t i = 0; i < recent; ++i)
    front.append(state.recent[i].bytes.begin(), state.recent[i].bytes.end());
  auto header = write_state_header(state);
  front.append(header.begin(), header.end());
  auto trailer = trailer_of(front, state);

  std::vector<file_section> sections{{front.data(), front.size()}};
  for (auto* part : vectors_of(state))
    sections.push_back({part->data(), part->size() * sizeof(float)});
  sections.push_back({trailer.bytes.data(), trailer.bytes.size()});
  return where.replace(path, sections);
}

expected<checkpoint> load_checkpoint(const std::string& path) {
  file_descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0)
    return file_failure("read the checkpoint", path);
  if (!S_ISREG(status.st_mode))
    return failure{path + " is not a file; name the checkpoint itself"};
  return read_checkpoint(path, static_cast<std::uint64_t>(status.st_size),
                         [&](void* out, std::size_t size) {
                           return read_fully(fd.get(), out, size);
                         });
}

expected<checkpoint> read_checkpoint(const std::string& path,
                                     std::uint64_t file_bytes,
                                     const reader& read, safeguard_set guards) {
  // Sizes are checked against the file's before anything is allocated.
  std::string front(header_bytes, '\0');
  auto known = std::min<std::uint64_t>(file_bytes, magic_bytes);
  if (!read(front.data(), std::min<std::uint64_t>(file_bytes, header_bytes)))
    return file_failure("read the checkpoint", path);
  if (known == 0 || std::memcmp(front.data(), magic, known) != 0)
    return failure{path + " is not a checkpoint of Potluck"};
  if (file_bytes < header_bytes)
    return damaged(path, "truncated");
  auto version = get_little_endian<std::uint32_t>(bytes_of(front) + 8);
  std::uint64_t recent = get_little_endian<std::uint32_t>(bytes_of(front) + 12);
  auto charter_bytes = get_little_endian<std::uint64_t>(bytes_of(front) + 16);
  auto values = get_little_endian<std::uint64_t>(bytes_of(front) + 24);
  if (version != format_version && version != earlier_version)
    return failure{
        "the checkpoint " + path + " is of format " + std::to_string(version)
        + ", but this version of Potluck reads "
        + std::to_string(format_version) + "; use the version that wrote it"};
  if (recent > max_recent_digests || charter_bytes > max_charter_bytes
      || values > max_state_values)
    return damaged(path, "damaged");
  auto front_bytes = header_bytes + charter_bytes + recent * digest::size
                     + state_header_bytes;
  if (file_bytes < front_bytes)
    return damaged(path, "truncated");
  front.resize(front_bytes);
  if (!read(front.data() + header_bytes, front_bytes - header_bytes))
    return file_failure("read the checkpoint", path);
  state_header header;
  std::copy_n(bytes_of(front) + front_bytes - header.size(), header.size(),
              header.begin());
  const auto moments = moments_in(header);
  if (!moments)
    return damaged(path, "damaged");
  auto whole
      = front_bytes + (1 + *moments) * sizeof(float) * values + digest::size;
  if (file_bytes < whole)
    return damaged(path, "truncated");

  checkpoint result;
  auto& state = result.state;
  digest trailer;
  resize(state, values, *moments);
  bool complete = true;
  for (auto* part : vectors_of(state))
    complete = complete && read(part->data(), values * sizeof(float));
  complete = complete && read(trailer.bytes.data(), trailer.bytes.size());
  if (!complete)
    return file_failure("read the checkpoint", path);
  if (trailer != trailer_of(front, state)
      && guards.has(safeguard::checkpoint_sum))
    return damaged(path, "damaged");
  if (file_bytes > whole)
    return damaged(path, "damaged");

  // From here on the bytes are as they were written.
  auto charter = charter::from_bytes(front.substr(header_bytes, charter_bytes));
  if (!charter)
    return failure{"the checkpoint " + path
                   + " cannot be used: " + charter.error()};
  result.charter = std::move(*charter);
  auto next = bytes_of(front) + header_bytes + charter_bytes;
  state.recent.resize(recent);
  for (auto& x : state.recent) {
    std::copy_n(next, digest::size, x.bytes.begin());
    next += digest::size;
  }
  auto done = read_state_header(header, values, state);
  if (!done)
    return failure{"the checkpoint " + path
                   + " cannot be used: " + done.error()};
  const auto kept = moments_kept(result.charter.settings());
  if (values > 0 && state.moments() < kept)
    return failure{"the checkpoint " + path + " cannot be used: it has "
                   + std::to_string(state.moments())
                   + " moments of each parameter, but its optimizer keeps "
                   + std::to_string(kept)};
  set_moments(state, kept);
  return result;
}

} // namespace potluck
