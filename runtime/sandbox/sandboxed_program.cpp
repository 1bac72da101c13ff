#include "runtime/sandbox/sandboxed_program.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "runtime/sandbox/frames.hpp"

namespace potluck {

namespace {

using clock = std::chrono::steady_clock;

/// What is read at once: an answer's size is believed as its bytes come.
constexpr std::size_t read_bytes = 256u << 10;

/// Starts it with `line` as its channel. Its signals are as a shell leaves
/// them; Ctrl-C in our terminal is not meant for it. Of our environment it has
/// only where libraries are, and how they compute. Returns an error number.
int spawn(const sandbox_terms& how, int line, int memory, pid_t& id) {
  std::vector<char*> words{const_cast<char*>(how.path.c_str())};
  for (const auto& x : how.arguments)
    words.push_back(const_cast<char*>(x.c_str()));
  words.push_back(nullptr);
  std::vector<char*> environment;
  for (auto** at = environ; *at; ++at)
    for (std::string_view wanted : {"LD_LIBRARY_PATH=", "OPENBLAS_", "OMP_"})
      if (std::string_view{*at}.substr(0, wanted.size()) == wanted)
        environment.push_back(*at);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, line, sandbox::channel);
  if (memory >= 0)
    posix_spawn_file_actions_adddup2(&files, memory, sandbox::lent_memory);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK
                                            | POSIX_SPAWN_SETSIGDEF
                                            | POSIX_SPAWN_SETPGROUP);
  const int error = ::posix_spawn(&id, how.path.c_str(), &files, &attributes,
                                  words.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// A copy that lies above the descriptors which a program is given: what is
/// one of those already would stay closed on exec in old libraries, or be
/// overwritten.
file_descriptor above_given(int fd) {
  return file_descriptor{
      ::fcntl(fd, F_DUPFD_CLOEXEC, sandbox::lent_memory + 1)};
}

/// Between two looks at `cancelled`, of which nobody is told.
constexpr std::chrono::milliseconds look_at_cancelled{100};

/// Until `line` is ready for these events, or closed. False: it is too late, or
/// `cancelled` is true.
bool await(int line, short events, clock::time_point until,
           const std::atomic<bool>* cancelled = nullptr) {
  for (;;) {
    if (cancelled && *cancelled)
      return false;
    auto left
        = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
    if (cancelled)
      left = std::min(left, look_at_cancelled);
    pollfd what{line, events, 0};
    const int found = ::poll(
        &what, 1,
        static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30)));
    if (found > 0)
      return true;
    if (found == 0 && clock::now() >= until)
      return false;
    if (found < 0 && errno != EINTR)
      return false;
  }
}

} // namespace

const char* words_for(sandbox_outcome how) {
  switch (how) {
    case sandbox_outcome::answered:
      return "was read";
    case sandbox_outcome::refused:
      return "was refused";
    case sandbox_outcome::out_of_memory:
      return "needed too much memory";
    case sandbox_outcome::too_slow:
      return "took too long";
    case sandbox_outcome::crashed:
      return "crashed";
    case sandbox_outcome::nonsense:
      return "gave nonsense";
  }
  return "failed";
}

expected<sandboxed_program> sandboxed_program::start(const sandbox_terms& how) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return failure{"Cannot start " + how.path + ": " + std::strerror(errno)
                   + "."};
  file_descriptor ours{ends[0]};
  file_descriptor theirs{ends[1]};
  if (theirs.get() <= sandbox::lent_memory)
    theirs = above_given(theirs.get());
  file_descriptor memory;
  if (how.lent_memory >= 0)
    memory = above_given(how.lent_memory);
  pid_t id = -1;
  if (const int error = spawn(how, theirs.get(), memory.get(), id))
    return failure{"Cannot start " + how.path + ": " + std::strerror(error)
                   + "; install it from the same build as this program."};
  theirs = {};
  sandboxed_program result{std::move(ours), id, how};
  auto hello = result.converse({}, nullptr);
  if (hello.how == sandbox_outcome::answered && hello.bytes == how.greeting)
    return result;
  if (hello.how == sandbox_outcome::refused)
    return failure{"This system refuses to confine " + how.path + " ("
                   + hello.bytes
                   + "), so nothing that strangers wrote is read with it: use "
                     "a kernel with seccomp, or allow it in the container."};
  return failure{how.path
                 + " does not belong to this program: install both from the "
                   "same build."};
}

sandboxed_program::sandboxed_program(sandboxed_program&& other) noexcept
    : line_(std::move(other.line_)), id_(std::exchange(other.id_, -1)),
      patience_(other.patience_), largest_answer_(other.largest_answer_) {
}

sandboxed_program&
sandboxed_program::operator=(sandboxed_program&& other) noexcept {
  std::swap(line_, other.line_);
  std::swap(id_, other.id_);
  patience_ = other.patience_;
  largest_answer_ = other.largest_answer_;
  return *this;
}

sandboxed_program::~sandboxed_program() {
  end(sandbox_outcome::crashed);
}

sandbox_answer sandboxed_program::ask(std::uint8_t kind, std::string_view body,
                                      const std::atomic<bool>* cancelled) {
  if (!is_there() || body.size() > UINT32_MAX)
    return {};
  return converse(sandbox::frame_head(kind, body.size()).append(body),
                  cancelled);
}

sandbox_answer sandboxed_program::converse(std::string_view request,
                                           const std::atomic<bool>* cancelled) {
  using sandbox::answer_kind;
  const auto until = clock::now() + patience_;
  std::string head, body;
  auto moved = send(request, until);
  if (moved == transfer::done)
    moved = receive(head, sandbox::frame_head_bytes, until, cancelled);
  auto kind = answer_kind::done;
  if (moved == transfer::done) {
    const auto data = reinterpret_cast<const std::uint8_t*>(head.data());
    kind = static_cast<answer_kind>(data[0]);
    const auto size = get_little_endian<std::uint32_t>(data + 1);
    if (kind > answer_kind::unconfined || size > largest_answer_)
      return {end(sandbox_outcome::nonsense), {}};
    moved = receive(body, size, until, cancelled);
  }
  if (moved == transfer::late)
    return {end(cancelled && *cancelled ? sandbox_outcome::crashed
                                        : sandbox_outcome::too_slow),
            {}};
  if (moved == transfer::closed)
    return {end(sandbox_outcome::crashed), {}};
  if (kind == answer_kind::out_of_memory)
    return {end(sandbox_outcome::out_of_memory), {}};
  return {kind == answer_kind::done ? sandbox_outcome::answered
                                    : sandbox_outcome::refused,
          std::move(body)};
}

sandboxed_program::transfer sandboxed_program::send(std::string_view bytes,
                                                    time_limit until) {
  while (!bytes.empty()) {
    const auto sent = ::send(line_.get(), bytes.data(), bytes.size(),
                             MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    else if (errno != EAGAIN && errno != EINTR)
      return transfer::closed;
    else if (!await(line_.get(), POLLOUT, until))
      return transfer::late;
  }
  return transfer::done;
}

sandboxed_program::transfer
sandboxed_program::receive(std::string& bytes, std::size_t size,
                           time_limit until,
                           const std::atomic<bool>* cancelled) {
  while (bytes.size() < size) {
    if (!await(line_.get(), POLLIN, until, cancelled))
      return transfer::late;
    const auto before = bytes.size();
    bytes.resize(before + std::min(size - before, read_bytes));
    const auto got = ::recv(line_.get(), bytes.data() + before,
                            bytes.size() - before, MSG_DONTWAIT);
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
      return transfer::closed;
  }
  return transfer::done;
}

sandbox_outcome sandboxed_program::end(sandbox_outcome otherwise) {
  if (id_ <= 0)
    return otherwise;
  int status = 0;
  ::kill(id_, SIGKILL); // What had ended before keeps its own reason.
  while (::waitpid(id_, &status, 0) < 0 && errno == EINTR)
    ;
  id_ = -1;
  line_ = {};
  return otherwise == sandbox_outcome::crashed && WIFSIGNALED(status)
                 && WTERMSIG(status) == SIGXCPU
             ? sandbox_outcome::too_slow
             : otherwise;
}

} // namespace potluck
