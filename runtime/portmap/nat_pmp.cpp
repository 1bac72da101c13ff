#include "runtime/portmap/nat_pmp.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <arpa/inet.h>
#include <natpmp.h>
#include <poll.h>

namespace potluck {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// RFC 6886, 3.1 repeats a question for a minute: three times are enough in a
/// house.
constexpr auto patience = 1800ms;
constexpr auto closing_patience = 500ms;
/// RFC 6886, 3.3 recommends two hours; a machine that was switched off should
/// not leave a hole for so long.
constexpr std::uint32_t lease_seconds = 3600;
constexpr std::uint32_t close_it = 0; ///< As a lease (3.4).

/// A conversation with the gateway.
class gateway {
public:
  explicit gateway(const std::string& at) {
    in_addr forced{};
    const bool chosen = ::inet_pton(AF_INET, at.c_str(), &forced) == 1;
    open_ = ::initnatpmp(&it_, chosen ? 1 : 0, forced.s_addr) == 0;
  }
  ~gateway() {
    if (open_)
      ::closenatpmp(&it_);
  }
  gateway(const gateway&) = delete;
  gateway& operator=(const gateway&) = delete;

  bool is_there() const {
    return open_;
  }
  std::optional<natpmpresp_t> address() {
    return ask([this] { return ::sendpublicaddressrequest(&it_); },
               NATPMP_RESPTYPE_PUBLICADDRESS, patience);
  }
  std::optional<natpmpresp_t> map(std::uint16_t port, std::uint32_t seconds) {
    const auto outside = seconds == close_it ? std::uint16_t{0} : port;
    const auto send = [=] {
      return ::sendnewportmappingrequest(&it_, NATPMP_PROTOCOL_TCP, port,
                                         outside, seconds);
    };
    return ask(send, NATPMP_RESPTYPE_TCPPORTMAPPING,
               seconds == close_it ? clock::duration{closing_patience}
                                   : clock::duration{patience});
  }

private:
  /// A router that answers late has heard the library repeat a question, and
  /// answers twice. So an answer of another type belongs to the question
  /// before. The library has forgotten the present one by then; it is asked
  /// again, which changes nothing at the router.
  template <class Send>
  std::optional<natpmpresp_t> ask(Send send, std::uint16_t type,
                                  clock::duration longest) {
    const auto end = clock::now() + longest;
    while (clock::now() < end && send() >= 0) {
      const auto said = answer(end);
      if (!said || said->type == type)
        return said;
    }
    return std::nullopt;
  }

  std::optional<natpmpresp_t> answer(clock::time_point end) {
    while (clock::now() < end) {
      timeval next{};
      if (::getnatpmprequesttimeout(&it_, &next) != 0)
        return std::nullopt;
      // Unlike select, it takes descriptors of any number.
      pollfd readable{it_.s, POLLIN, 0};
      const auto ms = next.tv_sec * 1000 + next.tv_usec / 1000 + 1;
      ::poll(&readable, 1, static_cast<int>(std::max<long>(ms, 0)));
      natpmpresp_t said{};
      const int how = ::readnatpmpresponseorretry(&it_, &said);
      if (how == 0)
        return said;
      if (how != NATPMP_TRYAGAIN)
        return std::nullopt;
    }
    return std::nullopt;
  }

  natpmp_t it_{};
  bool open_ = false;
};

class nat_pmp final : public port_opener {
public:
  explicit nat_pmp(std::string at) : at_(std::move(at)) {
  }

  port_mapping open(std::uint16_t local_port) override {
    const auto none = [](const std::string& why) {
      return port_mapping{{}, {}, "NAT-PMP", why};
    };
    gateway router{at_};
    if (!router.is_there())
      return none("this machine has no router");
    const auto who = router.address();
    if (!who)
      return none("the router does not answer to NAT-PMP");
    const auto how = router.map(local_port, lease_seconds);
    if (!how || how->pnu.newportmapping.privateport != local_port
        || how->pnu.newportmapping.mappedpublicport == 0)
      return none("the router refuses to open a port by NAT-PMP");
    char host[INET_ADDRSTRLEN] = "";
    ::inet_ntop(AF_INET, &who->pnu.publicaddress.addr, host, sizeof(host));
    return {{host, how->pnu.newportmapping.mappedpublicport},
            std::chrono::seconds{how->pnu.newportmapping.lifetime},
            "NAT-PMP",
            ""};
  }

  void close(std::uint16_t local_port) override {
    gateway router{at_};
    if (router.is_there())
      router.map(local_port, close_it);
  }

private:
  std::string at_;
};

} // namespace

std::unique_ptr<port_opener> make_nat_pmp(std::string gateway) {
  return std::make_unique<nat_pmp>(std::move(gateway));
}

} // namespace potluck
