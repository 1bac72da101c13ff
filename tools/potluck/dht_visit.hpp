/// A short visit to the DHT: one look-up or one publication over real lines, by
/// a node that keeps nothing and is dialled by nobody.
///
/// It looks up as a peer does whose next step depends on it, over disjoint
/// paths, and remembers which of the nodes named what.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/dht/dht_client.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tools/potluck/transport_news.hpp"

namespace potluck::tools {

/// A record, and who has it.
struct seen_record {
  dht_record record;
  std::size_t nodes = 0;       ///< That named it, of those that answered.
  std::set<std::size_t> paths; ///< That these lie on.
};

struct dht_finding {
  std::vector<seen_record> records; ///< Those that their owners have signed.
  std::size_t answers = 0;          ///< Nodes that answered.
  std::size_t asked = 0;
};

class dht_visitor {
public:
  /// @param how With the key that the visitor is known by, and signs with.
  explicit dht_visitor(uv_transport_options how);
  ~dht_visitor();

  dht_visitor(const dht_visitor&) = delete;
  dht_visitor& operator=(const dht_visitor&) = delete;

  /// Greets the first contacts; those with an id have to prove it.
  /// @returns How many are there, or why nobody is.
  expected<std::size_t> enter(const std::vector<contact>& seeds);

  dht_finding get(const record_key& key);

  /// Signs and stores.
  /// @returns Nodes that keep it; or why it is no record.
  expected<std::size_t> put(dht_record record);

private:
  using clock = std::chrono::steady_clock;
  struct link {
    contact who; ///< Without an id until it has proven one.
    bool dialled_for_id = false;
    bool is_ready = false;
    bool is_over = false;
    std::string why; ///< It is over.
    std::vector<message> waiting;
  };

  static time_point now();
  /// Handles what happens until `done`, or the time is over.
  template <class Done>
  bool wait(clock::duration patience, Done done);
  void handle(const transport_news::item& x);
  void read(connection_id id, link& l, const message& content);
  void closed(connection_id id, const std::string& reason);
  void carry_out(dht_actions xs);
  void call(const dht_call& x);

  uv_transport_options how_;
  peer_id self_;
  std::shared_ptr<transport_news> box_ = std::make_shared<transport_news>();
  std::unique_ptr<transport> net_;
  dht_node here_;
  dht_client client_;
  std::map<connection_id, link> links_;
  std::map<peer_id, connection_id> by_id_;
  std::string seen_host_; ///< This machine's, as the first contact sees it.
  // Of the one look-up, or the one publication.
  std::map<peer_id, std::size_t> paths_;
  std::map<std::string, std::map<peer_id, std::uint64_t>> naming_;
  std::set<peer_id> asked_;
  std::optional<lookup_over> over_;
  std::optional<std::uint32_t> sent_to_;
  std::size_t kept_ = 0;
};

} // namespace potluck::tools
