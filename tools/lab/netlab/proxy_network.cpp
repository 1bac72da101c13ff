// Hosts as addresses of this machine, with a proxy before each.

#include <map>
#include <unistd.h>

#include "tools/lab/netlab/host_network.hpp"
#include "tools/lab/network/fault_proxy.hpp"

namespace potluck::netlab {

namespace {

class proxies : public host_network {
public:
  /// Networks that exist at the same time get different addresses, most likely.
  explicit proxies(std::uint64_t seed)
      : middle_("." + std::to_string(::getpid() % 250 + 1) + "."),
        proxy_(seed) {
  }

  bool carries_packets() const override {
    return false;
  }

  std::string about() const override {
    return "a proxy stands before each peer, on this machine's loopback";
  }

  expected<host> add(const access_line& line, router_kind) override {
    lines_.push_back(line);
    return lines_.size() - 1;
  }

  std::string address_of(host x) const override {
    return place(1, x);
  }

  expected<address> open(host x, std::uint16_t port) override {
    if (auto known = fronts_.find(x); known != fronts_.end()) {
      if (known->second.port == port)
        return known->second;
      return failure{"A host has one {network:PORT} without namespaces; write "
                     "the same port in all commands of it, or run as root."};
    }
    auto front = proxy_.add(x, place(1, x), place(2, x), port);
    if (front) {
      fronts_[x] = *front;
      proxy_.set_line(x, lines_[x]);
    }
    return front;
  }

  std::vector<std::string> words_of(host x) const override {
    const auto& front = fronts_.at(x);
    return {"--listen=" + to_string(address{place(2, x), front.port}),
            "--announce=" + to_string(front), "--dial-from=" + front.host};
  }

  bool enter(host) const override {
    return true;
  }
  expected<bool> within(host,
                        const std::function<expected<bool>()>& what) override {
    return what();
  }

  void set_line(host x, const access_line& line) override {
    lines_[x] = line;
    proxy_.set_line(x, line);
  }

  expected<bool> link(host, host, const network_link&) override {
    return failure{"Pairs (`links`) need namespaces: run as root, or take them "
                   "out of the description."};
  }

  std::uint64_t part(const std::set<host>& side) override {
    return proxy_.part(side);
  }
  void reunite(std::uint64_t partition) override {
    proxy_.reunite(partition);
  }
  void cut(host x) override {
    proxy_.cut(x);
  }

  statistics totals() const override {
    auto x = proxy_.totals();
    return {x.connections, x.bytes, x.lost_packets, x.corrupted, x.cut, 0};
  }
  std::optional<line_counters> counters_of(host) const override {
    return std::nullopt;
  }

private:
  /// @param side 1 for fronts, 2 for backs.
  std::string place(std::size_t side, host x) const {
    constexpr std::size_t row = 250;
    return "127." + std::to_string(side + 2 * (x / row)) + middle_
           + std::to_string(x % row + 1);
  }

  std::string middle_;
  fault_proxy proxy_;
  std::vector<access_line> lines_;
  std::map<host, address> fronts_;
};

} // namespace

std::unique_ptr<host_network> make_proxies(std::uint64_t seed) {
  return std::make_unique<proxies>(seed);
}

} // namespace potluck::netlab
