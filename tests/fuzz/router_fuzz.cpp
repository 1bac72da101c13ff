/// What a home's router answers by NAT-PMP and UPnP.
///
/// An even first byte: datagrams, each with a byte in front that says how long
/// it is. An odd one: answers to requests of HTTP, each ended by a zero byte.
/// Behind the last one nothing more is said. They go over real sockets of the
/// loopback, since the libraries have no others; what they name elsewhere is
/// dialled by nobody. tools/fuzz runs it with libFuzzer, router_fuzz_test.cpp
/// without.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/portmap/nat_pmp.hpp"
#include "runtime/portmap/upnp.hpp"
#include "runtime/state/file_descriptor.hpp"

using namespace potluck;

namespace {

constexpr std::uint16_t pmp_port = 5351; // RFC 6886.

/// Both kinds, on a thread of its own.
class router {
public:
  /// Throws std::system_error where its ports are taken.
  router()
      : pmp_host_("127.53." + std::to_string(::getpid() / 256 % 256) + "."
                  + std::to_string(::getpid() % 256)),
        datagrams_(SOCK_DGRAM, pmp_host_.c_str(), pmp_port),
        lines_(SOCK_STREAM, "127.0.0.1", 0), thread_([this] { serve(); }) {
  }
  ~router() {
    stopping_ = true;
    thread_.join();
  }

  const std::string& pmp_host() const {
    return pmp_host_;
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(lines_.port) + "/it.xml";
  }
  void will_say(std::string_view script) {
    const std::lock_guard<std::mutex> lock{mutex_};
    script_ = script;
  }

private:
  struct listening {
    listening(int type, const char* host, std::uint16_t at)
        : fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
      sockaddr_in where{};
      where.sin_family = AF_INET;
      where.sin_port = htons(at);
      ::inet_pton(AF_INET, host, &where.sin_addr);
      socklen_t size = sizeof(where);
      auto* name = reinterpret_cast<sockaddr*>(&where);
      if (!fd || ::bind(fd.get(), name, size) != 0
          || (type == SOCK_STREAM && ::listen(fd.get(), 8) != 0)
          || ::getsockname(fd.get(), name, &size) != 0)
        throw std::system_error{errno, std::generic_category(), host};
      port = ntohs(where.sin_port);
    }
    file_descriptor fd;
    std::uint16_t port = 0;
  };

  void serve() {
    while (!stopping_) {
      pollfd all[]{{datagrams_.fd.get(), POLLIN, 0},
                   {lines_.fd.get(), POLLIN, 0}};
      if (::poll(all, 2, 20) <= 0)
        continue;
      if (all[0].revents != 0)
        answer_datagram();
      if (all[1].revents != 0)
        answer_line(
            file_descriptor{::accept(lines_.fd.get(), nullptr, nullptr)});
    }
  }
  void answer_datagram() {
    char asked[64];
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    auto* name = reinterpret_cast<sockaddr*>(&from);
    ::recvfrom(datagrams_.fd.get(), asked, sizeof(asked), 0, name, &size);
    const std::lock_guard<std::mutex> lock{mutex_};
    const auto length
        = script_.empty() ? 0 : static_cast<unsigned char>(script_[0]) % 32;
    const auto said = script_.substr(script_.empty() ? 0 : 1, length);
    script_.erase(0, 1 + length);
    ::sendto(datagrams_.fd.get(), said.data(), said.size(), 0, name, size);
  }
  void answer_line(const file_descriptor& line) {
    std::string asked;
    char part[4096];
    while (line && !is_whole(asked)) {
      const auto got = ::recv(line.get(), part, sizeof(part), 0);
      if (got <= 0)
        return;
      asked.append(part, static_cast<std::size_t>(got));
    }
    const std::lock_guard<std::mutex> lock{mutex_};
    auto said = script_.substr(0, script_.find('\0'));
    script_.erase(0, said.size() + 1);
    for (auto at = said.find("://"); at != said.npos; at = said.find("://"))
      said[at] = ';'; // Nothing leads away from here.
    static_cast<void>(
        ::send(line.get(), said.data(), said.size(), MSG_NOSIGNAL));
  }
  /// A request with its body.
  static bool is_whole(const std::string& asked) {
    const auto end = asked.find("\r\n\r\n");
    const auto length = asked.find("Content-Length: ");
    return end != asked.npos
           && (length > end
               || asked.size()
                      >= end + 4 + std::stoul(asked.substr(length + 16)));
  }

  const std::string pmp_host_;
  const listening datagrams_;
  const listening lines_;
  std::mutex mutex_;
  std::string script_; ///< Guarded.
  std::atomic<bool> stopping_{false};
  std::thread thread_; ///< Begins last, and ends first.
};

} // namespace

/// @returns Whether a port was opened.
std::size_t fuzz_router(const std::uint8_t* data, std::size_t size) {
  static router it;
  if (size < 1)
    return 0;
  it.will_say({reinterpret_cast<const char*>(data) + 1, size - 1});
  auto opener
      = data[0] % 2 == 0 ? make_nat_pmp(it.pmp_host()) : make_upnp(it.url());
  std::size_t opened = 0;
  for (int i = 0; i < 2; ++i) { // The second time it is there.
    const auto x = opener->open(7000);
    if (x.problem.empty() != (x.outside.port != 0) || x.how.empty())
      std::abort();
    opened += x.outside.port != 0;
  }
  opener->close(7000);
  return opened;
}
