/// One look-up over several paths that share no node (S/Kademlia, Baumgart and
/// Mies 2007, section 4.4): whoever lies on one of them misleads that one.
///
/// Each path is a `lookup` of its own. It goes by what its own nodes have
/// named, and asks nobody whom another path has asked. What they found is
/// merged: of one owner, the record with the highest number.
///
/// Difference from the paper: a path does not end at the first record, but with
/// its own quorum of the closest.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/dht/lookup.hpp"

namespace potluck {

class disjoint_lookup {
public:
  /// Paths of a look-up that nobody may mislead. Each costs a quorum.
  static constexpr std::size_t careful = 3;

  /// @param seeds Dealt to the paths, the closest first.
  /// @param paths At least one. One alone is a plain `lookup`.
  disjoint_lookup(const record_key& target, const peer_id& self,
                  std::vector<contact> seeds, lookup::settings how,
                  std::size_t paths = 1);

  // As of `lookup`, of all paths together.
  std::vector<contact> next();
  void answered(const peer_id& who, const std::vector<contact>& nodes,
                const std::vector<dht_record>& records, time_point now);
  void failed(const peer_id& who);
  bool done() const;
  bool awaits_only() const;
  /// Closest first, as each path has it; merged.
  std::vector<contact> closest() const;
  std::vector<peer_id> known() const;
  std::vector<dht_record> records(time_point now) const;
  std::optional<std::uint64_t> number(const std::string& subkey) const;

  const record_key& target() const {
    return paths_.front().target();
  }
  std::size_t asked() const;
  /// On which path a node was asked, from 1 on; 0: on none.
  std::size_t path_of(const peer_id& who) const;

private:
  lookup::settings how_;
  std::vector<lookup> paths_;
  std::map<peer_id, std::size_t> asked_by_; ///< Index of the path.
};

} // namespace potluck
