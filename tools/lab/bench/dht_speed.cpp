/// How many signed records a second 64 nodes on the loopback store and find,
/// next to OpenDHT's nodes in the same run, where that is installed.
///
///     dht_speed [RECORDS [NODES]]
///
/// Ours: dht_node and dht_client over TLS, each record checked by each node
/// before it keeps it. OpenDHT's: `putSigned` with RSA keys, since Debian 12's
/// (2.4.12) takes no other signature for valid; and plain `put` beside it. Each
/// record has a key of its own, goes to eight nodes, and is looked up by
/// another node than its owner. So many are under way at a time. Ends with 1
/// where not all of ours are found.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/lab/bench/dht_swarm.hpp"

#ifdef POTLUCK_OPENDHT
#include <opendht.h>
#endif

using namespace potluck;
using namespace potluck::bench;
using namespace std::chrono_literals;

namespace {

// ---- OpenDHT's --------------------------------------------------------------

#ifdef POTLUCK_OPENDHT

/// Counts what ends, for one thread that waits.
class ends {
public:
  void add(bool good) {
    std::lock_guard<std::mutex> lock{mutex_};
    ++all_;
    good_ += good;
    changed_.notify_all();
  }
  void wait_for(std::size_t count) {
    std::unique_lock<std::mutex> lock{mutex_};
    changed_.wait_for(lock, 60s, [&] { return all_ >= count; });
  }
  std::size_t good() {
    std::lock_guard<std::mutex> lock{mutex_};
    return good_;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t all_ = 0;
  std::size_t good_ = 0;
};

class open_swarm {
public:
  explicit open_swarm(std::size_t nodes) {
    for (std::size_t i = 0; i < nodes; ++i) {
      dht::DhtRunner::Config how;
      how.dht_config.id = dht::crypto::generateIdentity(
          "node " + std::to_string(i), {}, 2048);
      how.dht_config.node_config.max_req_per_sec = -1;
      how.dht_config.node_config.max_peer_req_per_sec = -1;
      how.threaded = true;
      nodes_.push_back(std::make_unique<dht::DhtRunner>());
      nodes_.back()->run(0, how);
      if (i > 0)
        nodes_[i]->bootstrap("127.0.0.1",
                             std::to_string(nodes_[0]->getBoundPort()));
    }
    std::this_thread::sleep_for(15s); // Until they know each other.
  }
  ~open_swarm() {
    for (auto& x : nodes_)
      x->join();
  }
  speed measure(std::size_t records, bool is_signed) {
    speed result;
    const std::string name = is_signed ? "signed " : "plain ";
    auto put = std::make_shared<ends>();
    const auto begun = clock_type::now();
    for (std::size_t i = 0; i < records; ++i) {
      if (i >= under_way)
        put->wait_for(i - under_way + 1);
      const auto key = dht::InfoHash::get(name + std::to_string(i));
      auto value = std::make_shared<dht::Value>(
          std::vector<std::uint8_t>(value_bytes, std::uint8_t{7}));
      auto& node = *nodes_[(7 * i) % nodes_.size()];
      const auto done = [put](bool good) { put->add(good); };
      if (is_signed)
        node.putSigned(key, value, done);
      else
        node.put(key, value, done);
    }
    put->wait_for(records);
    result.puts = static_cast<double>(records) / since(begun);
    auto got = std::make_shared<ends>();
    const auto then = clock_type::now();
    for (std::size_t i = 0; i < records; ++i) {
      if (i >= under_way)
        got->wait_for(i - under_way + 1);
      const auto key = dht::InfoHash::get(name + std::to_string(i));
      auto found = std::make_shared<bool>(false);
      nodes_[(7 * i + 1 + i % (nodes_.size() - 1)) % nodes_.size()]->get(
          key,
          [found](const std::vector<std::shared_ptr<dht::Value>>& xs) {
            *found = *found || !xs.empty();
            return true;
          },
          [got, found](bool) { got->add(*found); });
    }
    got->wait_for(records);
    result.gets = static_cast<double>(records) / since(then);
    result.found
        = static_cast<double>(got->good()) / static_cast<double>(records);
    return result;
  }

private:
  std::vector<std::unique_ptr<dht::DhtRunner>> nodes_;
};

#endif

void print(const char* what, const speed& x) {
  std::printf("%-18s %8.0f puts/s  %8.0f gets/s  %6.2f %% found\n", what,
              x.puts, x.gets, 100 * x.found);
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  const auto records
      = argc > 1 ? static_cast<std::size_t>(std::atol(argv[1])) : 2000;
  const auto nodes
      = argc > 2 ? static_cast<std::size_t>(std::atol(argv[2])) : 64;
  if (records == 0 || nodes < 2) {
    std::fprintf(stderr, "dht_speed [RECORDS [NODES]]: of each at least one, "
                         "and two.\n");
    return 2;
  }
  speed ours;
  {
    swarm all{nodes};
    ours = all.measure(records);
  }
  print("potluck, signed", ours);
#ifdef POTLUCK_OPENDHT
  open_swarm theirs{nodes};
  const auto is_signed = theirs.measure(records, true);
  print("OpenDHT, signed", is_signed);
  print("OpenDHT, plain", theirs.measure(records, false));
  std::printf("ours over OpenDHT's, signed: %.2f puts, %.2f gets\n",
              ours.puts / is_signed.puts, ours.gets / is_signed.gets);
#else
  std::printf("OpenDHT is not installed (.ci/packages-bench.txt)\n");
#endif
  return ours.found < 1 ? 1 : 0;
}
