#include "runtime/artifacts/artifact_folder.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <utility>

#include "runtime/state/atomic_file.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/private_folder.hpp"

namespace potluck {

namespace {

namespace fs = std::filesystem;

/// Reads up to `size` bytes from there on; fewer at the file's end, none where
/// it cannot be read.
std::size_t read_at(int fd, std::uint64_t offset, std::uint8_t* out,
                    std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const auto n = ::pread(fd, out + done, size - done,
                           static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

expected<bool> write_at(int fd, std::uint64_t offset, const std::uint8_t* from,
                        std::size_t size, const std::string& path) {
  for (std::size_t done = 0; done < size;) {
    const auto n = ::pwrite(fd, from + done, size - done,
                            static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return file_failure("write", path);
    done += static_cast<std::size_t>(n);
  }
  return true;
}

/// What a file holds, piece by piece.
struct sums_of_file {
  std::uint64_t bytes = 0;
  sha256_digest content;
  piece_sums pieces;
};

/// @param each Gets every piece, and may refuse it.
expected<sums_of_file>
read_sums(const file_descriptor& file, const std::string& path,
          const std::function<expected<bool>(std::string_view)>& each) {
  sums_of_file result;
  sha256_stream whole;
  std::vector<std::uint8_t> piece(artifact_piece_bytes);
  for (;;) {
    errno = 0;
    const auto n
        = read_at(file.get(), result.bytes, piece.data(), piece.size());
    if (errno != 0 && n < piece.size())
      return file_failure("read", path);
    if (n == 0)
      break;
    const std::string_view bytes{reinterpret_cast<char*>(piece.data()), n};
    result.bytes += n;
    if (auto taken = each(bytes); !taken)
      return failure{taken.error()};
    whole.add(bytes.data(), n);
    result.pieces.push_back(sha256(bytes));
    if (n < piece.size())
      break;
  }
  result.content = whole.sum();
  return result;
}

/// @param each Gets every piece.
expected<artifact>
read_users_file(const std::string& name, const std::string& file,
                const std::function<expected<bool>(std::string_view)>& each) {
  if (auto problem = problem_with_artifact(name, 1); !problem.empty())
    return failure{problem};
  file_descriptor from{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct ::stat about = {};
  if (!from || ::fstat(from.get(), &about) != 0)
    return file_failure("read", file);
  if (!S_ISREG(about.st_mode))
    return failure{file + " is no file; an artifact is one file"};
  const auto sound_length = [&](std::uint64_t bytes) -> expected<bool> {
    const auto problem = problem_with_artifact(name, bytes);
    if (!problem.empty())
      return failure{file + ": " + problem};
    return true;
  };
  if (auto sound = sound_length(static_cast<std::uint64_t>(about.st_size));
      !sound)
    return failure{sound.error()};
  std::uint64_t bytes = 0;
  const auto sums = read_sums(from, file, [&](std::string_view piece) {
    bytes += piece.size(); // It may grow meanwhile.
    auto sound = sound_length(bytes);
    return sound ? each(piece) : sound;
  });
  if (!sums)
    return failure{sums.error()};
  artifact result;
  result.name = name;
  result.bytes = sums->bytes;
  result.content = sums->content;
  result.pieces = sha256(to_bytes(sums->pieces));
  return result;
}

/// What it lies in is an identity directory, which its owner alone may enter.
expected<bool> make_folder(const std::string& path) {
  if (auto made = make_private_folder(fs::path{path}.parent_path()); !made)
    return made;
  std::error_code problem;
  fs::create_directories(path, problem);
  if (problem)
    return failure{"cannot make the folder " + path + ": " + problem.message()};
  return true;
}

/// Makes it durable and gives it its name.
expected<bool> settle(int fd, const std::string& path,
                      const std::string& whole) {
  if (::fsync(fd) != 0)
    return file_failure("write", path);
  if (::rename(path.c_str(), whole.c_str()) != 0)
    return file_failure("rename", path);
  return true;
}

/// Before it is known what a copy is, which a crash may leave.
const std::string taken_prefix = "taken-";

} // namespace

bool artifact_folder::has(const sha256_digest& content) const {
  std::error_code ignored;
  return fs::exists(path_of(content), ignored);
}

expected<artifact> artifact_folder::describe(const std::string& name,
                                             const std::string& file) {
  return read_users_file(
      name, file, [](std::string_view) -> expected<bool> { return true; });
}

/// An empty one, for a copy that has no name yet. Two processes may do so at
/// once.
/// @param path Where it lies.
expected<file_descriptor> artifact_folder::make_file(std::string& path) const {
  if (auto made = make_folder(path_); !made)
    return failure{made.error()};
  path = path_ + "/" + taken_prefix + "XXXXXX";
  file_descriptor result{::mkstemp(path.data())};
  if (!result)
    return file_failure("make a file in", path_);
  return result;
}

expected<artifact> artifact_folder::take(const std::string& name,
                                         const std::string& file) const {
  if (path_.empty())
    return failure{"artifact " + name
                   + " needs a folder to lie in; set identity-dir to one"};
  std::string beside;
  auto made = make_file(beside);
  if (!made)
    return failure{made.error()};
  const auto& to = *made;
  std::uint64_t written = 0;
  auto result = read_users_file(name, file, [&](std::string_view piece) {
    const auto at = std::exchange(written, written + piece.size());
    return write_at(to.get(), at,
                    reinterpret_cast<const std::uint8_t*>(piece.data()),
                    piece.size(), beside);
  });
  auto done = result ? settle(to.get(), beside, path_of(result->content))
                     : expected<bool>{failure{result.error()}};
  if (!done) {
    ::unlink(beside.c_str());
    return failure{done.error()};
  }
  return result;
}

expected<std::string> artifact_folder::put(std::string_view bytes) const {
  std::string beside;
  const auto to = make_file(beside);
  if (!to)
    return failure{to.error()};
  const auto whole = path_of(sha256(bytes));
  auto done = write_at(to->get(), 0,
                       reinterpret_cast<const std::uint8_t*>(bytes.data()),
                       bytes.size(), beside);
  if (done)
    done = settle(to->get(), beside, whole);
  if (done)
    return whole;
  ::unlink(beside.c_str());
  return failure{done.error()};
}

expected<piece_sums> artifact_folder::check(const artifact& x,
                                            const std::string& owner) const {
  const auto path = path_of(x.content);
  file_descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file)
    return file_failure("read", path);
  auto sums = read_sums(
      file, path, [](std::string_view) -> expected<bool> { return true; });
  if (!sums)
    return failure{sums.error()};
  if (sums->bytes != x.bytes || sums->content != x.content
      || sha256(to_bytes(sums->pieces)) != x.pieces) {
    if (!owner.empty())
      ::rename(path.c_str(), partial_path(x, owner).c_str());
    const auto has = sums->bytes < x.bytes
                         ? "is cut short: it has " + std::to_string(sums->bytes)
                               + " of " + std::to_string(x.bytes) + " bytes"
                         : std::string{"has another SHA-256 than its name"};
    return failure{"artifact " + x.name + " in " + path + " " + has};
  }
  // Now it was used.
  ::futimens(file.get(), nullptr);
  return std::move(sums->pieces);
}

expected<std::string> artifact_folder::find(const charter& run,
                                            const std::string& name) const {
  const auto wanted = artifact_of(run, name);
  if (!wanted)
    return failure{"run '" + run.settings().run + "' has no artifact " + name};
  if (path_.empty())
    return failure{"artifact " + name
                   + " lies nowhere, since there is no folder for it; set "
                     "identity-dir to one"};
  if (auto sound = check(*wanted, ""); !sound)
    return failure{sound.error()
                   + "; set identity-dir to one with which the run was joined, "
                     "or join it to fetch the file, or with the file: "
                     "artifact "
                   + name + "=FILE"};
  return path_of(wanted->content);
}

shared_bytes artifact_folder::read(const artifact& x, std::uint32_t piece,
                                   const sha256_digest& sum) const {
  file_descriptor file{
      ::open(path_of(x.content).c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file || piece >= x.piece_count())
    return {};
  const auto offset = std::uint64_t{piece} * artifact_piece_bytes;
  const auto size = static_cast<std::size_t>(
      std::min<std::uint64_t>(artifact_piece_bytes, x.bytes - offset));
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(size);
  if (read_at(file.get(), offset, bytes->data(), size) != size
      || sha256({reinterpret_cast<char*>(bytes->data()), size}) != sum)
    return {};
  return {bytes, bytes->data(), size};
}

void artifact_folder::make_room(const std::set<sha256_digest>& keep,
                                std::uint64_t bytes, std::uint64_t most) const {
  struct file {
    fs::file_time_type used;
    fs::path path;
    std::uint64_t bytes;
  };
  std::vector<file> others;
  auto total = bytes;
  std::error_code problem;
  for (fs::directory_iterator i{path_, problem}, end; !problem && i != end;
       i.increment(problem)) {
    const auto name = i->path().filename().string();
    std::error_code gone;
    const auto size = i->file_size(gone);
    const auto used = i->last_write_time(gone);
    const auto content
        = parse_id<sha256_digest>(name.substr(0, name.find('.')));
    const bool is_ours = content || name.rfind(taken_prefix, 0) == 0;
    if (gone || !is_ours || (content && keep.count(*content) != 0))
      continue;
    total += size;
    others.push_back({used, i->path(), size});
  }
  std::sort(others.begin(), others.end(),
            [](auto& a, auto& b) { return a.used < b.used; });
  for (const auto& x : others) {
    if (total <= most)
      break;
    fs::remove(x.path, problem);
    total -= x.bytes;
  }
}

expected<partial_artifact> partial_artifact::open(const artifact_folder& where,
                                                  const artifact& x,
                                                  const std::string& owner) {
  if (auto made = make_folder(where.path()); !made)
    return failure{made.error()};
  partial_artifact result{x, where.partial_path(x, owner),
                          where.path_of(x.content)};
  result.file_ = file_descriptor{
      ::open(result.path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
  if (!result.file_)
    return file_failure("write", result.path_);
  return result;
}

std::vector<bool> partial_artifact::sound_pieces(const piece_sums& sums) const {
  std::vector<bool> result(sums.size());
  std::vector<std::uint8_t> piece(artifact_piece_bytes);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto offset = std::uint64_t{i} * artifact_piece_bytes;
    const auto size = static_cast<std::size_t>(
        std::min<std::uint64_t>(artifact_piece_bytes, it_.bytes - offset));
    result[i]
        = read_at(file_.get(), offset, piece.data(), size) == size
          && sha256({reinterpret_cast<char*>(piece.data()), size}) == sums[i];
  }
  return result;
}

expected<bool> partial_artifact::write(std::uint32_t piece,
                                       const shared_bytes& bytes) const {
  return write_at(file_.get(), std::uint64_t{piece} * artifact_piece_bytes,
                  bytes.data, bytes.size, path_);
}

expected<bool> partial_artifact::finish() const {
  // One that was too long before it was damaged.
  if (::ftruncate(file_.get(), static_cast<off_t>(it_.bytes)) != 0)
    return file_failure("write", path_);
  return settle(file_.get(), path_, whole_);
}

} // namespace potluck
