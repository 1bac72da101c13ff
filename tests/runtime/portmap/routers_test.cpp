/// What the two libraries make of routers of this machine's loopback that
/// speak NAT-PMP and UPnP, well and badly.
#include "runtime/portmap/nat_pmp.hpp"
#include "runtime/portmap/upnp.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/skip.hpp"
#include "tests/support/upnp_description.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// A socket of a loopback address of its own, and a thread that serves it.
class server {
public:
  /// @param port 0: any.
  server(int type, const char* host, std::uint16_t port) {
    fd_ = ::socket(AF_INET, type, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    ::inet_pton(AF_INET, host, &at.sin_addr);
    socklen_t size = sizeof(at);
    bound_
        = ::bind(fd_, reinterpret_cast<sockaddr*>(&at), size) == 0
          && (type != SOCK_STREAM || ::listen(fd_, 8) == 0)
          && ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) == 0;
    this->port = ntohs(at.sin_port);
  }
  ~server() {
    stopping_ = true;
    if (thread_.joinable())
      thread_.join();
    ::close(fd_);
  }
  bool is_there() const {
    return bound_;
  }
  void serve(std::function<void(int)> each) {
    thread_ = std::thread{[this, each] {
      while (!stopping_) {
        pollfd x{fd_, POLLIN, 0};
        if (::poll(&x, 1, 20) > 0)
          each(fd_);
      }
    }};
  }
  std::uint16_t port = 0;

private:
  int fd_ = -1;
  bool bound_ = false;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

/// RFC 6886's port, on an address that nobody else uses.
constexpr const char* pmp_host = "127.53.51.1";
constexpr std::uint16_t pmp_port = 5351;

void put16(std::vector<std::uint8_t>& x, unsigned value) {
  x.push_back(static_cast<std::uint8_t>(value >> 8));
  x.push_back(static_cast<std::uint8_t>(value));
}
void put32(std::vector<std::uint8_t>& x, std::uint32_t value) {
  put16(x, value >> 16);
  put16(x, value & 0xffff);
}

/// A router that speaks NAT-PMP.
struct pmp_router {
  pmp_router() : socket(SOCK_DGRAM, pmp_host, pmp_port) {
    socket.serve([this](int fd) {
      std::uint8_t asked[64];
      sockaddr_in from{};
      socklen_t size = sizeof(from);
      const auto got = ::recvfrom(fd, asked, sizeof(asked), 0,
                                  reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 2 || silent)
        return;
      std::vector<std::uint8_t> answer{
          0, static_cast<std::uint8_t>(asked[1] + 128)};
      put16(answer, asked[1] == 2 ? result.load() : 0u);
      put32(answer, 1);
      if (asked[1] == 0) {
        put32(answer, 0xcb007107); // 203.0.113.7
      } else {
        const std::uint32_t lease
            = asked[8] << 24 | asked[9] << 16 | asked[10] << 8 | asked[11];
        (lease == 0 ? closed : opened)++;
        put16(answer, asked[4] << 8 | asked[5]);
        put16(answer, lease == 0 ? 0 : 4000);
        put32(answer, lease);
      }
      for (int i = 0; i < (says_twice && asked[1] == 0 ? 2 : 1); ++i)
        ::sendto(fd, answer.data(), answer.size(), 0,
                 reinterpret_cast<sockaddr*>(&from), size);
    });
  }
  std::atomic<bool> silent{false};
  std::atomic<bool> says_twice{false}; ///< Its address.
  std::atomic<unsigned> result{0};
  std::atomic<int> opened{0};
  std::atomic<int> closed{0};
  server socket; ///< Its thread ends first.
};

/// A router that speaks UPnP.
struct upnp_router {
  upnp_router() : socket(SOCK_STREAM, "127.0.0.1", 0) {
    REQUIRE(socket.is_there());
    socket.serve([this](int fd) {
      const int line = ::accept(fd, nullptr, nullptr);
      std::string asked;
      char buffer[4096];
      auto whole = [&] {
        const auto end = asked.find("\r\n\r\n");
        if (end == std::string::npos)
          return false;
        const auto at = asked.find("Content-Length: ");
        return at == std::string::npos
               || asked.size() >= end + 4 + std::stoul(asked.substr(at + 16));
      };
      while (!whole()) {
        const auto got = ::recv(line, buffer, sizeof(buffer), 0);
        if (got <= 0)
          break;
        asked.append(buffer, static_cast<std::size_t>(got));
      }
      answer(line, asked);
      ::close(line);
    });
  }
  void answer(int line, const std::string& asked) {
    auto has
        = [&](const char* x) { return asked.find(x) != std::string::npos; };
    std::string status = "200 OK", body = upnp_description;
    auto soap = [&](const std::string& inside) {
      body
          = R"(<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>)"
            + inside + "</s:Body></s:Envelope>";
    };
    if (has("#AddPortMapping")) {
      const bool permanent = has("<NewLeaseDuration>0</NewLeaseDuration>");
      int error = 0;
      if (conflicts > 0) {
        --conflicts;
        error = 718;
      } else if (only_permanent && !permanent) {
        error = 725;
      }
      if (error != 0) {
        status = "500 Internal Server Error";
        soap("<s:Fault><detail><UPnPError><errorCode>" + std::to_string(error)
             + "</errorCode></UPnPError></detail></s:Fault>");
      } else {
        ++opened;
        soap("<u:AddPortMappingResponse/>");
      }
    } else if (has("#DeletePortMapping")) {
      ++closed;
      soap("<u:DeletePortMappingResponse/>");
    } else if (has("#GetExternalIPAddress")) {
      soap("<u:GetExternalIPAddressResponse><NewExternalIPAddress>203.0.113.7"
           "</NewExternalIPAddress></u:GetExternalIPAddressResponse>");
    }
    if (broken)
      body = std::string(100, '<');
    const auto text = "HTTP/1.1 " + status
                      + "\r\nContent-Type: text/xml\r\nContent-Length: "
                      + std::to_string(body.size())
                      + "\r\nConnection: close\r\n\r\n" + body;
    static_cast<void>(::send(line, text.data(), text.size(), MSG_NOSIGNAL));
  }
  std::string url() const {
    return "http://127.0.0.1:" + std::to_string(socket.port) + "/desc.xml";
  }
  std::atomic<int> conflicts{0};
  std::atomic<bool> only_permanent{false};
  std::atomic<bool> broken{false};
  std::atomic<int> opened{0};
  std::atomic<int> closed{0};
  server socket; ///< Its thread ends first.
};

} // namespace

TEST_CASE("a router opens a port by NAT-PMP, and closes it") {
  pmp_router router;
  if (!router.socket.is_there())
    return support::skip("port 5351 of 127.53.51.1 is taken");
  auto pmp = make_nat_pmp(pmp_host);
  auto x = pmp->open(7000);
  CHECK(x.problem == "");
  CHECK(x.outside == address{"203.0.113.7", 4000});
  CHECK(x.lease > 0s);
  CHECK(router.opened == 1);
  pmp->close(7000);
  CHECK(router.closed == 1);
}

TEST_CASE("a router that refuses by NAT-PMP, or is silent, is told") {
  pmp_router router;
  if (!router.socket.is_there())
    return support::skip("port 5351 of 127.53.51.1 is taken");
  auto pmp = make_nat_pmp(pmp_host);
  SUBCASE("refuses") {
    router.result = 2; // Not authorized.
  }
  SUBCASE("silent") {
    router.silent = true;
  }
  const auto begin = std::chrono::steady_clock::now();
  auto x = pmp->open(7000);
  CHECK(x.outside.port == 0);
  CHECK_FALSE(x.problem.empty());
  CHECK(std::chrono::steady_clock::now() - begin < 8s);
}

TEST_CASE("a router that answers a question twice opens a port by NAT-PMP") {
  pmp_router router;
  if (!router.socket.is_there())
    return support::skip("port 5351 of 127.53.51.1 is taken");
  router.says_twice = true;
  auto x = make_nat_pmp(pmp_host)->open(7000);
  CHECK(x.problem == "");
  CHECK(x.outside == address{"203.0.113.7", 4000});
}

TEST_CASE("NAT-PMP works in a process that has thousands of open files") {
  pmp_router router;
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit more{std::max<rlim_t>(before.rlim_cur, FD_SETSIZE + 64),
                    before.rlim_max};
  if (!router.socket.is_there() || ::setrlimit(RLIMIT_NOFILE, &more) != 0)
    return support::skip("port 5351 or the descriptors are not to be had");
  std::vector<int> files;
  do
    files.push_back(::dup(STDERR_FILENO));
  while (files.back() >= 0 && files.back() < FD_SETSIZE);
  CHECK(make_nat_pmp(pmp_host)->open(7000).outside.port == 4000);
  for (const int file : files)
    ::close(file);
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("a router opens a port by UPnP, and closes it") {
  upnp_router router;
  auto upnp = make_upnp(router.url());
  SUBCASE("as it is asked") {
    CHECK(upnp->open(7000).outside == address{"203.0.113.7", 7000});
    CHECK(upnp->open(7000).outside.port == 7000); // For longer.
    CHECK(router.opened == 2);
  }
  SUBCASE("at another one, where another machine has it") {
    router.conflicts = 2;
    auto x = upnp->open(7000);
    CHECK(x.outside.port != 0);
    CHECK(x.outside.port != 7000);
  }
  SUBCASE("for ever, where it cannot do otherwise") {
    router.only_permanent = true;
    auto x = upnp->open(7000);
    CHECK(x.outside.port == 7000);
    CHECK(x.lease > 0s);
  }
  upnp->close(7000);
  CHECK(router.closed == 1);
}

TEST_CASE("a router that has no port left, or speaks nonsense, is told") {
  upnp_router router;
  auto upnp = make_upnp(router.url());
  SUBCASE("no port") {
    router.conflicts = 100;
  }
  SUBCASE("nonsense") {
    router.broken = true;
  }
  auto x = upnp->open(7000);
  CHECK(x.outside.port == 0);
  CHECK_FALSE(x.problem.empty());
  upnp->close(7000);
  CHECK(router.closed == 0);
}

TEST_CASE("a router that stops to renew a port by UPnP has to close it") {
  upnp_router router;
  auto upnp = make_upnp(router.url());
  REQUIRE(upnp->open(7000).outside.port == 7000);
  SUBCASE("it refuses") {
    router.conflicts = 100;
  }
  SUBCASE("it speaks nonsense") {
    router.broken = true;
  }
  CHECK(upnp->open(7000).outside.port == 0);
  CHECK(router.closed == 1);
  upnp->close(7000);
  CHECK(router.closed == 1);
  router.conflicts = 0;
  router.broken = false;
  CHECK(upnp->open(7000).outside.port == 7000); // Found anew.
}
