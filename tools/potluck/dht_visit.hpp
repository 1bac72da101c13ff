/// A short visit to the DHT: one look-up or one publication over real lines, by
/// a node that keeps nothing and is dialled by nobody.
///
/// It looks up as a peer does whose next step depends on it, over disjoint
/// paths, and remembers which of the nodes named what.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/dht/dht_client.hpp"
#include "tools/potluck/visit.hpp"

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

class dht_visitor : public visit {
public:
  /// @param how With the key that the visitor is known by, and signs with.
  explicit dht_visitor(const uv_transport_options& how);

  /// Greets the first contacts; those with an id have to prove it.
  /// @returns How many are there, or why nobody is.
  expected<std::size_t> enter(const std::vector<contact>& seeds);

  dht_finding get(const record_key& key);

  /// Signs and stores.
  /// @returns Nodes that keep it; or why it is no record.
  expected<std::size_t> put(dht_record record);

private:
  static time_point now();
  void carry_out(dht_actions xs);
  void call(const dht_call& x);

  void welcomed(line& l) override;
  void heard(line& l, const message& content, const shared_bytes&) override;
  void ended(line& l) override;
  void idle() override;

  const shared_signatures signs_;
  dht_node here_;
  dht_client client_;
  std::map<peer_id, line*> by_id_;
  clock::time_point look_at_;
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
