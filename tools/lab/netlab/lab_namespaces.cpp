// Hosts as network namespaces.

#include "tools/lab/netlab/lab_network.hpp"
#include "tools/lab/netlab/packet_carrier.hpp"

namespace potluck::netlab {

namespace {

class namespaces : public lab_network {
public:
  namespaces(const network_description& from, std::vector<namespace_host> hosts)
      : hosts_(std::move(hosts)), network_(from) {
  }

  std::string address_of(host x) const override {
    return dotted(host_address(x));
  }

  expected<std::vector<std::string>> network_words(host x,
                                                   unsigned port) override {
    return std::vector<std::string>{"--listen=" + address_of(x) + ":"
                                    + std::to_string(port)};
  }

  bool enter(host x) const override {
    return hosts_[x].enter();
  }

  void change(host x, const line_change& how) override {
    network_.change(x, how);
  }

  std::vector<int> descriptors() const override {
    std::vector<int> result;
    for (const auto& x : hosts_)
      result.push_back(x.line());
    return result;
  }

  std::optional<time_point> step() override {
    return carrier_.step();
  }

  const emulated_network::counters* counters_of(host x) const override {
    return &network_.of(x);
  }

  double late_share() const override {
    return carrier_.late_share();
  }

private:
  std::vector<namespace_host> hosts_;
  emulated_network network_;
  packet_carrier<emulated_network, std::vector<namespace_host>> carrier_{
      network_, hosts_};
};

} // namespace

expected<std::unique_ptr<lab_network>>
make_namespaces(const network_description& from) {
  std::vector<namespace_host> hosts;
  for (std::size_t i = 0; i < from.hosts.size(); ++i) {
    auto made = namespace_host::make(host_address(i));
    if (!made)
      return failure{"A host cannot be made (" + made.error()
                     + "): run as root, or with --without-namespaces."};
    hosts.push_back(std::move(*made));
  }
  return std::unique_ptr<lab_network>{
      std::make_unique<namespaces>(from, std::move(hosts))};
}

} // namespace potluck::netlab
