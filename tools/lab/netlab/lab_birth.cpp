#include "tools/lab/netlab/lab_birth.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

#include "runtime/state/file_descriptor.hpp"
#include "tools/lab/netlab/namespace_host.hpp"

namespace potluck::netlab {

namespace {

failure impossible(const std::string& what) {
  return {"Network namespaces cannot be made here (" + what
          + "): run this as root on Linux, or with --without-namespaces, where "
            "a proxy before each peer shapes its traffic."};
}

std::string refused(const char* what) {
  return std::string{what} + ": " + std::strerror(errno);
}

} // namespace

expected<lab_birth> become_lab(bool namespaces) {
  if (namespaces) {
    if (auto root = become_root_inside(); !root)
      return impossible(root.error());
    // The first try is for the sentence: inside, nobody would hear it.
    if (::unshare(CLONE_NEWNET) != 0)
      return impossible(refused("network namespace"));
    file_descriptor tun{::open("/dev/net/tun", O_RDWR | O_CLOEXEC)};
    if (!tun)
      return impossible(refused("/dev/net/tun"));
    if (::unshare(CLONE_NEWPID) != 0)
      return impossible(refused("process namespace"));
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
