/// A sandboxed program that does what it should not.
#include "tests/runtime/sandbox/fake_program.hpp"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/sandbox/frames.hpp"
#include "runtime/sandbox/inside/confinement.hpp"
#include "runtime/sandbox/inside/service.hpp"

using namespace potluck;
using test::fake_request;

namespace {

/// What must not work, as the kernel sees it. A child that came to life ends.
std::string try_all() {
  const auto here = reinterpret_cast<long>("/");
  std::vector<long> room(512);
  const auto spare = reinterpret_cast<long>(room.data());
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const struct {
    const char* name;
    std::vector<long> words;
  } calls[] = {
      {"open", {SYS_openat, AT_FDCWD, here, O_RDONLY}},
      {"write a file", {SYS_openat, AT_FDCWD, here, O_TMPFILE | O_RDWR, 0600}},
      {"make a folder", {SYS_mkdirat, AT_FDCWD, here, 0700}},
      {"remove a file", {SYS_unlinkat, AT_FDCWD, here, 0}},
      {"look at a file", {SYS_newfstatat, AT_FDCWD, here, spare, 0}},
      {"memory as a file", {SYS_memfd_create, here, 0}},
      {"socket", {SYS_socket, AF_INET, SOCK_STREAM, 0}},
      {"local socket", {SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, spare}},
      {"connect", {SYS_connect, sandbox::channel, spare, sizeof(sockaddr_un)}},
      {"send descriptors", {SYS_sendmsg, sandbox::channel, spare, 0}},
      {"receive descriptors", {SYS_recvmsg, sandbox::channel, spare, 0}},
      {"copy a descriptor", {SYS_dup, sandbox::channel}},
      {"pipe", {SYS_pipe2, spare, 0}},
      {"fork", {SYS_clone, SIGCHLD, 0, 0, 0, 0}},
      {"exec", {SYS_execve, here, 0, 0}},
      {"kill its parent", {SYS_kill, ::getppid(), 0}},
      {"kill itself", {SYS_kill, ::getpid(), 0}},
      {"trace", {SYS_ptrace, 0, 0, 0, 0}},
      {"read another's memory",
       {SYS_process_vm_readv, ::getppid(), spare, 0, spare, 0, 0}},
      {"raise its limits", {SYS_prlimit64, 0, 0, spare, 0}},
      {"map code",
       {SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
        -1, 0}},
      {"turn memory into code",
       {SYS_mprotect, reinterpret_cast<long>(page), 4096,
        PROT_READ | PROT_EXEC}},
      {"outlive its parent", {SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0}},
      {"set a timer", {SYS_timer_create, 0, 0, spare}},
      {"new rings", {SYS_io_uring_setup, 1, spare}},
      {"new programs in the kernel", {SYS_bpf, 0, spare, 0}},
  };
  std::string result;
  for (const auto& x : calls) {
    auto w = x.words;
    w.resize(7);
    errno = 0;
    const auto got = ::syscall(w[0], w[1], w[2], w[3], w[4], w[5], w[6]);
    if (got == 0 && w[0] == SYS_clone)
      ::_exit(0);
    if (got != -1 || errno != EPERM)
      result += std::string{x.name} + "\n";
  }
  char byte;
  for (int i = 0; i < 1024; ++i)
    if (i != sandbox::channel && ::read(i, &byte, 1) != (i < 3 ? 0 : -1))
      result += "read descriptor " + std::to_string(i) + "\n";
  return result;
}

char* lent = nullptr;

/// A thread that is older than the sandbox.
struct {
  std::mutex busy;
  std::condition_variable changed;
  bool there = false, asked = false, done = false;
  std::string found;
} second;

void be_second() {
  std::unique_lock<std::mutex> lock{second.busy};
  second.there = true;
  second.changed.notify_all();
  second.changed.wait(lock, [] { return second.asked; });
  second.found = try_all();
  second.done = true;
  second.changed.notify_all();
}

/// As on a kernel without seccomp.
void forget_seccomp() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof(code) / sizeof(code[0]), code};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
      || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    ::_exit(9);
}

void write_raw(const std::string& bytes) {
  if (::write(sandbox::channel, bytes.data(), bytes.size()) < 0)
    ::_exit(9);
}

/// More than any stack has, from its far end.
int fill_stack() {
  volatile char room[512 << 20];
  room[0] = 1;
  return room[0];
}

expected<std::string> answer(std::uint8_t kind, const std::string& body) {
  switch (static_cast<fake_request>(kind)) {
    case fake_request::echo:
      return body;
    case fake_request::refuse:
      return failure{body};
    case fake_request::try_all:
      return try_all();
    case fake_request::allocate:
      return std::to_string(std::string(std::stoull(body) << 20, 'x').size()
                            >> 20);
    case fake_request::fill_stack:
      return std::to_string(fill_stack());
    case fake_request::spin:
      for (volatile int i = 0;; i = i + 1)
        ;
    case fake_request::wait: {
      int word = 0;
      ::syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr, nullptr, 0);
      break;
    }
    case fake_request::die:
      *static_cast<volatile int*>(nullptr) = 1;
      break;
    case fake_request::leave:
      ::_exit(0);
    case fake_request::babble:
      write_raw(sandbox::frame_head(77, 0));
      break;
    case fake_request::boast:
      write_raw(sandbox::frame_head(0, UINT32_MAX));
      break;
    case fake_request::half:
      write_raw(sandbox::frame_head(0, 8) + "half");
      ::_exit(0);
    case fake_request::swap: {
      const std::string before{lent, body.size()};
      body.copy(lent, body.size());
      return before;
    }
    case fake_request::try_thread: {
      std::unique_lock<std::mutex> lock{second.busy};
      second.asked = true;
      second.changed.notify_all();
      second.changed.wait(lock, [] { return second.done; });
      return second.found;
    }
  }
  return failure{"there is no such request"};
}

} // namespace

int main(int, char** argv) {
  if (std::strcmp(argv[3], test::fake_on_old_kernel) == 0)
    forget_seccomp();
  if (::fcntl(sandbox::lent_memory, F_GETFD) >= 0)
    lent = static_cast<char*>(::mmap(nullptr, test::fake_lent_bytes,
                                     PROT_READ | PROT_WRITE, MAP_SHARED,
                                     sandbox::lent_memory, 0));
  const bool with_code = std::strcmp(argv[3], test::fake_with_code) == 0;
  if (with_code) {
    std::thread{be_second}.detach();
    std::unique_lock<std::mutex> lock{second.busy};
    second.changed.wait(lock, [] { return second.there; });
  }
  std::signal(SIGSEGV, [](int) {}); // As some library does: a crash for ever.
  const auto problem = sandbox::confine(
      {std::strtoull(argv[1], nullptr, 10) << 20,
       static_cast<std::uint32_t>(std::atoi(argv[2])), with_code});
  if (!problem.empty()) {
    sandbox::decline(problem);
    return 1;
  }
  const bool ours = std::strcmp(argv[3], test::fake_of_another_build) != 0;
  sandbox::serve(ours ? test::fake_greeting : "here you are", 1 << 20, answer);
}
