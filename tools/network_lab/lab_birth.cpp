// How the lab gets a process namespace of its own.

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/state/file_descriptor.hpp"
#include "tools/network_lab/lab_network.hpp"

namespace potluck::netlab {

namespace {

bool write_file(const char* path, const std::string& text) {
  file_descriptor file{::open(path, O_WRONLY | O_CLOEXEC)};
  return file
         && ::write(file.get(), text.data(), text.size())
                == static_cast<ssize_t>(text.size());
}

failure impossible(const std::string& what) {
  return {"Network namespaces cannot be made here (" + what + ": "
          + std::strerror(errno)
          + "): run this as root on Linux, or with --without-namespaces, where "
            "a proxy before each peer shapes its traffic."};
}

/// Without privilege: root of a user namespace, which owns what it makes.
bool become_root_inside() {
  auto user = std::to_string(::geteuid());
  auto group = std::to_string(::getegid());
  return ::unshare(CLONE_NEWUSER) == 0
         && write_file("/proc/self/setgroups", "deny")
         && write_file("/proc/self/uid_map", "0 " + user + " 1")
         && write_file("/proc/self/gid_map", "0 " + group + " 1");
}

} // namespace

expected<lab_birth> become_lab(bool namespaces) {
  if (namespaces) {
    if (::geteuid() != 0 && !become_root_inside())
      return impossible("user namespace");
    // The first try is for the sentence: inside, nobody would hear it.
    if (::unshare(CLONE_NEWNET) != 0)
      return impossible("network namespace");
    file_descriptor tun{::open("/dev/net/tun", O_RDWR | O_CLOEXEC)};
    if (!tun)
      return impossible("/dev/net/tun");
    if (::unshare(CLONE_NEWPID) != 0)
      return impossible("process namespace");
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return failure{std::string{"A pipe cannot be made: "} + std::strerror(errno)
                   + "."};
  auto id = ::fork();
  if (id < 0)
    return failure{std::string{"A process cannot be made: "}
                   + std::strerror(errno) + "."};
  lab_birth result;
  if (id > 0) {
    ::close(ends[0]);
    // Our end stays open until we end, however that happens.
    result.child = id;
    return result;
  }
  ::close(ends[1]);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  result.side = lab_side::inside;
  result.lifeline = ends[0];
  return result;
}

} // namespace potluck::netlab
