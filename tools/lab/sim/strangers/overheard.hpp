/// What a stranger has heard of a run, and how a peer of it would speak.
///
/// Pure. It believes what it hears, but takes reports only from those whom they
/// are about, and remembers no more than `most_overheard` of a kind.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "messages/message.hpp"

namespace potluck::simulation {

class overheard {
public:
  /// What is remembered of each kind.
  static constexpr std::size_t most_overheard = 4096;

  /// @param from By its hello; empty before it said one.
  void learn(const peer_id& from, const message& what);

  /// Of the first who named one; empty before.
  const digest& charter() const {
    return charter_;
  }
  const std::vector<setting>& settings() const {
    return settings_;
  }
  /// Their own, each's last.
  const std::map<peer_id, progress_report>& reports() const {
    return reports_;
  }
  /// Of progress, by whom they are about.
  const std::map<peer_id, dht_record>& records() const {
    return records_;
  }
  /// Raw, others' own.
  const std::vector<std::string>& admissions() const {
    return admissions_;
  }

  /// A report like the one of the trainer with the most samples, but by
  /// somebody who can be dialled and brings nothing.
  progress_report imitation(const peer_id& who, const address& where,
                            potluck::role as) const;

private:
  digest charter_;
  std::vector<setting> settings_;
  std::map<peer_id, progress_report> reports_;
  std::map<peer_id, dht_record> records_;
  std::vector<std::string> admissions_;
};

} // namespace potluck::simulation
