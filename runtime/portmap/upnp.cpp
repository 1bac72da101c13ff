#include "runtime/portmap/upnp.hpp"

#include <memory>

#include <miniupnpc/miniupnpc.h>
#include <miniupnpc/upnpcommands.h>

namespace potluck {

namespace {

constexpr int search_ms = 2000;
constexpr const char* lease_text = "3600";
constexpr std::chrono::seconds lease{3600};
/// Errors of AddPortMapping: the port is another machine's; the router keeps
/// ports for ever or not at all, so that it is asked anew all the same.
constexpr int conflict = 718;
constexpr int only_permanent = 725;
/// Ports of the router that are tried besides the own one.
constexpr int other_ports = 3;

/// A router that was found, and how to speak to it.
class device {
public:
  explicit device(const std::string& description) {
    if (!description.empty()) {
      found_ = ::UPNP_GetIGDFromUrl(description.c_str(), &urls_, &data_, own_,
                                    sizeof(own_))
               == 1;
      return;
    }
    int error = 0;
    std::unique_ptr<UPNPDev, decltype(&::freeUPNPDevlist)> all{
        ::upnpDiscover(search_ms, nullptr, nullptr, UPNP_LOCAL_PORT_ANY, 0, 2,
                       &error),
        &::freeUPNPDevlist};
    if (!all)
      return;
#if MINIUPNPC_API_VERSION >= 18
    char outside[64] = "";
    const int what = ::UPNP_GetValidIGD(all.get(), &urls_, &data_, own_,
                                        sizeof(own_), outside, sizeof(outside));
#else
    const int what
        = ::UPNP_GetValidIGD(all.get(), &urls_, &data_, own_, sizeof(own_));
#endif
    // 1: a gateway that is connected; others have their addresses allocated
    // too, though there is nothing to ask of them.
    has_urls_ = what != 0;
    found_ = what == 1;
  }
  ~device() {
    if (found_ || has_urls_)
      ::FreeUPNPUrls(&urls_);
  }
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  bool is_there() const {
    return found_;
  }
  int open(std::uint16_t outside, std::uint16_t inside, const char* seconds) {
    return ::UPNP_AddPortMapping(urls_.controlURL, data_.first.servicetype,
                                 std::to_string(outside).c_str(),
                                 std::to_string(inside).c_str(), own_,
                                 "potluck", "TCP", nullptr, seconds);
  }
  void close(std::uint16_t outside) {
    ::UPNP_DeletePortMapping(urls_.controlURL, data_.first.servicetype,
                             std::to_string(outside).c_str(), "TCP", nullptr);
  }
  std::string outside() {
    char host[64] = "";
    if (::UPNP_GetExternalIPAddress(urls_.controlURL, data_.first.servicetype,
                                    host)
        != 0)
      return "";
    return host;
  }

private:
  UPNPUrls urls_{};
  IGDdatas data_{};
  char own_[64] = ""; ///< This machine's address towards it.
  bool found_ = false;
  bool has_urls_ = false;
};

class upnp final : public port_opener {
public:
  explicit upnp(std::string description)
      : description_(std::move(description)) {
  }

  port_mapping open(std::uint16_t local_port) override {
    const auto none = [](const std::string& why) {
      return port_mapping{{}, {}, "UPnP", why};
    };
    if (!router_) {
      router_ = std::make_unique<device>(description_);
      if (!router_->is_there()) {
        router_.reset();
        return none("no router answers to UPnP");
      }
    }
    const auto host = router_->outside();
    if (host.empty()) {
      lose();
      return none("the router does not say by UPnP which address it has");
    }
    auto port = outside_ != 0 ? outside_ : local_port;
    int error = router_->open(port, local_port, lease_text);
    // A port of a run of this house's other machine is left to it.
    for (int i = 0; i < other_ports && error == conflict; ++i) {
      port = static_cast<std::uint16_t>(49152 + (port * 7919u + 1) % 16384);
      error = router_->open(port, local_port, lease_text);
    }
    if (error == only_permanent)
      error = router_->open(port, local_port, "0");
    if (error != 0) {
      lose();
      return none("the router refuses to open a port by UPnP (error "
                  + std::to_string(error) + ")");
    }
    outside_ = port;
    return {{host, port}, lease, "UPnP", ""};
  }

  void close(std::uint16_t) override {
    if (router_ && outside_ != 0)
      router_->close(outside_);
    outside_ = 0;
  }

private:
  /// It may be another router by the next time: nothing stays open in this one.
  void lose() {
    close(0);
    router_.reset();
  }

  std::string description_;
  std::unique_ptr<device> router_;
  std::uint16_t outside_ = 0; ///< Port that it opened.
};

} // namespace

std::unique_ptr<port_opener> make_upnp(std::string description) {
  return std::make_unique<upnp>(std::move(description));
}

} // namespace potluck
