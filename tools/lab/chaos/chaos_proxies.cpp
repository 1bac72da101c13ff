// Peers as processes of this machine, with a proxy before each.

#include "tools/lab/chaos/chaos_network.hpp"
#include "tools/lab/network/fault_proxy.hpp"

namespace potluck::tools {

namespace {

std::string host_of(unsigned net, std::size_t number) {
  return "127." + std::to_string(net) + "." + std::to_string(number / 250) + "."
         + std::to_string(number % 250 + 1);
}

class proxies : public chaos_network {
public:
  explicit proxies(std::uint64_t seed) : proxy_(seed) {
  }

  bool carries_packets() const override {
    return false;
  }

  std::string about() const override {
    return "a proxy stands before each peer, on this machine's loopback";
  }

  expected<address> add(machine x) override {
    auto front = proxy_.add(x, host_of(1, x), host_of(2, x));
    if (front)
      fronts_[x] = *front;
    return front;
  }

  std::vector<std::string> words_of(machine x) const override {
    const auto& front = fronts_.at(x);
    return {"--listen=" + to_string(address{host_of(2, x), front.port}),
            "--announce=" + to_string(front), "--dial-from=" + front.host};
  }

  expected<bool> within(machine,
                        const std::function<expected<bool>()>& what) override {
    return what();
  }

  void set_line(machine x, const access_line& line,
                const line_faults& faults) override {
    fault_proxy::line to;
    to.delay = line.delay;
    to.jitter = line.jitter;
    to.upload = line.upload;
    to.download = line.download;
    to.loss = faults.loss;
    to.corrupt = faults.corrupt;
    to.deaf = faults.deaf;
    to.closed = faults.closed;
    proxy_.set_line(x, to);
  }

  std::uint64_t part(std::set<machine> side) override {
    return proxy_.part(std::move(side));
  }
  void reunite(std::uint64_t partition) override {
    proxy_.reunite(partition);
  }
  void cut(machine x) override {
    proxy_.cut(x);
  }

  statistics totals() const override {
    auto x = proxy_.totals();
    return {x.connections, x.bytes, x.lost_packets, x.corrupted, x.cut, 0};
  }

private:
  fault_proxy proxy_;
  std::map<machine, address> fronts_;
};

} // namespace

std::unique_ptr<chaos_network> make_proxy_network(std::uint64_t seed) {
  return std::make_unique<proxies>(seed);
}

} // namespace potluck::tools
