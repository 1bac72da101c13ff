// Hosts as addresses of this machine, with a proxy before each.

#include <unistd.h>

#include "tools/lab/netlab/lab_network.hpp"
#include "tools/lab/network/fault_proxy.hpp"

namespace potluck::netlab {

namespace {

class proxies : public lab_network {
public:
  explicit proxies(const network_description& from) : proxy_(from.seed) {
    // Labs that run at the same time get different addresses, most likely.
    auto lab = static_cast<unsigned>(::getpid()) % 250 + 1;
    middle_ = "." + std::to_string(lab) + ".";
    for (const auto& x : from.hosts)
      hosts_.push_back({x.line, 0});
  }

  std::string address_of(host x) const override {
    return "127.1" + middle_ + std::to_string(x + 1);
  }

  expected<std::vector<std::string>> network_words(host x,
                                                   unsigned port) override {
    auto& host = hosts_[x];
    if (host.port != 0 && host.port != port)
      return failure{"A host has one {network:PORT} without namespaces; write "
                     "the same port in all commands of it, or run as root."};
    if (host.port == 0) {
      auto opened = proxy_.add(x, address_of(x), back_of(x),
                               static_cast<std::uint16_t>(port));
      if (!opened)
        return failure{opened.error()};
      host.port = port;
      apply(x);
    }
    auto front = address_of(x) + ":" + std::to_string(port);
    return std::vector<std::string>{
        "--listen=" + back_of(x) + ":" + std::to_string(port),
        "--announce=" + front, "--dial-from=" + address_of(x)};
  }

  bool enter(host) const override {
    return true;
  }

  void change(host x, const line_change& how) override {
    how.apply(hosts_[x].line);
    apply(x);
  }

  std::vector<int> descriptors() const override {
    return {};
  }
  std::optional<time_point> step() override {
    return std::nullopt;
  }
  const emulated_network::counters* counters_of(host) const override {
    return nullptr;
  }
  double late_share() const override {
    return 0;
  }

private:
  struct shaped_host {
    access_line line;
    unsigned port;
  };

  std::string back_of(host x) const {
    return "127.2" + middle_ + std::to_string(x + 1);
  }

  void apply(host x) {
    const auto& from = hosts_[x].line;
    if (hosts_[x].port == 0)
      return;
    fault_proxy::line to;
    to.delay = from.delay;
    to.jitter = from.jitter;
    to.upload = from.upload;
    to.download = from.download;
    to.loss = from.loss;
    proxy_.set_line(x, to);
  }

  fault_proxy proxy_;
  std::string middle_;
  std::vector<shaped_host> hosts_;
};

} // namespace

expected<std::unique_ptr<lab_network>>
make_proxies(const network_description& from) {
  if (!from.links.empty())
    return failure{"Pairs (`links`) need namespaces: run as root, or take them "
                   "out of the description."};
  return std::unique_ptr<lab_network>{std::make_unique<proxies>(from)};
}

} // namespace potluck::netlab
