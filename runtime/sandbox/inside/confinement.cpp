#include "runtime/sandbox/inside/confinement.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/sandbox/frames.hpp"

namespace potluck::sandbox {

namespace {

/// Memory that is no code, the descriptors that are left, waiting, the end.
/// Nothing here opens, connects, starts or signals anything.
constexpr int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(sched_yield),
    SCMP_SYS(getrandom),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

/// Where nothing may become code: allowed as long as nothing does.
constexpr int allowed_without_code[] = {SCMP_SYS(mmap), SCMP_SYS(mprotect)};

std::string failed(const char* what, int error) {
  return std::string{what} + ": " + std::strerror(error);
}

/// @param beyond Added where the kernel is to end what came to `most`.
bool limit(__rlimit_resource what, rlim_t most, rlim_t beyond = 0) {
  rlimit now{};
  if (::getrlimit(what, &now) != 0)
    return false;
  // Where somebody allows less already, it stays so.
  const rlimit wanted{std::min(most, now.rlim_max),
                      std::min(most + beyond, now.rlim_max)};
  return ::setrlimit(what, &wanted) == 0;
}

/// Leaves the channel alone, and of the usual three only that they are there.
bool close_files() {
  const int nowhere = ::open("/dev/null", O_RDWR);
  for (int i = 0; i < channel; ++i)
    if (nowhere < 0 ? ::close(i) != 0 && errno != EBADF
                    : ::dup2(nowhere, i) < 0)
      return false;
  ::closefrom(channel + 1);
  return true;
}

/// Empty, or why there is no filter.
std::string filter_calls(bool makes_code) {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter{
      ::seccomp_init(SCMP_ACT_ERRNO(EPERM)), ::seccomp_release};
  if (!filter)
    return failed("seccomp", ENOMEM);
  for (int call : allowed)
    if (int error = ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0))
      return failed("seccomp's rules", -error);
  const auto without_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
  for (int call : allowed_without_code)
    if (int error
        = makes_code ? ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0)
                     : ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 1,
                                          without_code))
      return failed("seccomp's rules", -error);
  // Of all threads.
  if (int error = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1))
    return failed("seccomp's threads", -error);
  if (int error = ::seccomp_load(filter.get())) // No new privileges, either.
    return failed("seccomp", -error);
  return "";
}

} // namespace

std::string confine(const confinement_limits& most) {
  // Some library may catch crashes (UCX does, below LibTorch in Debian 13), and
  // what it does then is forbidden here: it would crash again, for ever.
  for (int crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT})
    std::signal(crash, SIG_DFL);
  // Whoever started us has gone without a word: nobody waits for us.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return failed("prctl", errno);
  if (!close_files())
    return failed("closing files", errno);
  if (!limit(RLIMIT_AS, most.memory_bytes)
      || (most.cpu_seconds > 0 && !limit(RLIMIT_CPU, most.cpu_seconds, 1))
      || !limit(RLIMIT_CORE, 0) || !limit(RLIMIT_FSIZE, 0)
      || !limit(RLIMIT_NPROC, 0) || !limit(RLIMIT_NOFILE, 0))
    return failed("setrlimit", errno);
  if (auto problem = filter_calls(most.makes_code); !problem.empty())
    return problem;
  if (::open("/", O_RDONLY) >= 0 || errno != EPERM
      || ::socket(AF_INET, SOCK_STREAM, 0) >= 0 || errno != EPERM)
    return "seccomp forbids nothing";
  return "";
}

} // namespace potluck::sandbox
