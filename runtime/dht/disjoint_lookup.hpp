/// One look-up over several paths that share no node (S/Kademlia, Baumgart and
/// Mies 2007, section 4.4): whoever lies on one of them misleads that one.
///
/// Each path is a `lookup` of its own. It goes by what its own nodes have
/// named, and asks nobody whom another path has asked. What they found is
/// merged: of one owner, the record with the highest number.
///
/// Difference from the paper: a path does not end at the first record, but with
/// its own quorum of the closest.
///
/// Those that answered must also lie as close together, give or take, as this
/// peer's own neighbours do (the routing failure test of Castro et al. 2002,
/// "Secure routing for structured peer-to-peer overlay networks", section 5):
/// nodes that name only each other are fewer than all, so that the closest of
/// them lie farther from the target. Where they lie too far, more are asked.
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
  /// The closest may be so many times as far away as neighbours would be. With
  /// twenty, by chance that is one look-up in a hundred; those of a fifth of
  /// all nodes pass for all once in three thousand.
  static constexpr double widest = 2;
  /// Where they are, twice as many must answer by `lookup::doubt`, and so on up
  /// to so many.
  static constexpr std::size_t most_quorum = 4 * bucket_size;

  /// @param seeds Dealt to the paths, the closest first.
  /// @param paths At least one. One alone is a plain `lookup`.
  /// @param spacing Of neighbours, as a part of the space: by so much each is
  ///        farther from a point than the next closer one. 0: not known, so
  ///        nobody is thought to be too far away.
  disjoint_lookup(const record_key& target, const peer_id& self,
                  std::vector<contact> seeds, lookup::settings how,
                  std::size_t paths = 1, double spacing = 0);

  // As of `lookup`, of all paths together.
  std::vector<contact> next();
  void answered(const peer_id& who, const std::vector<contact>& nodes,
                const std::vector<dht_record>& records, time_point now);
  void failed(const peer_id& who);
  void slow(const peer_id& who);
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
  /// Whether every path is done, but those that answered are too far away to be
  /// the closest; others are to be asked then.
  bool doubts();

  lookup::settings how_;
  double spacing_;
  std::size_t quorum_;       ///< Of each path, by its last doubt.
  double doubted_reach_ = 1; ///< How far away they were at the last doubt.
  std::vector<lookup> paths_;
  std::map<peer_id, std::size_t> asked_by_; ///< Index of the path.
};

} // namespace potluck
