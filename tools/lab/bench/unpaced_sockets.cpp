/// Linked into the references of `potluck bench averaging`: their sockets send
/// as Potluck's do on this machine, so that neither is paced where the other is
/// not. The libraries' calls of `socket` come here, since a program's symbols
/// are found before those of the C library; what `accept` returns takes over
/// its listener's choice.

#include <dlfcn.h>
#include <sys/socket.h>

#include "runtime/uv/kernel_view.hpp"

extern "C" int socket(int domain, int type, int protocol) noexcept {
  using function = int (*)(int, int, int);
  static const auto make
      = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "socket"));
  const int made = make(domain, type, protocol);
  if (made >= 0 && (domain == AF_INET || domain == AF_INET6))
    potluck::avoid_bbr(made); // Nothing to avoid where it is no TCP.
  return made;
}
