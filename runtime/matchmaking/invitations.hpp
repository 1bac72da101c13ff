/// The peers that a leader has invited to its group, and what they answered.
///
/// Pure bookkeeping: it neither asks nor waits, and does not know what an
/// answer has to be worth. All lists are in the order of ids.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "messages/contact.hpp"
#include "messages/matchmaking.hpp"

namespace potluck {

struct invitee {
  contact who;
  potluck::role role = potluck::role::trainer;
  /// Of what it says of its line, so many bytes a second count, both ways; 0:
  /// all.
  double most_line = 0;
  bool made_step = false; ///< Its gradient is in the state that is held.
};

class invitations {
public:
  /// False when it has been invited already.
  bool add(const invitee& x);
  void clear() {
    all_.clear();
  }
  /// Null when it was not invited.
  const invitee* find(const peer_id& who) const;

  // ---- what came back. Precondition: the peer was invited.

  /// It comes.
  void accepts(const peer_id& who, const group_answer& x);
  /// It says no, or will not work with the leader.
  void refuses(const peer_id& who);
  /// It is lost, left out, or waited for no more: it does not come.
  void drop(const peer_id& who);

  // ---- how it stands

  /// Whether its answer is waited for.
  bool awaits(const peer_id& who) const;
  /// Whether no answer is.
  bool complete() const;
  /// Whose answers are.
  std::vector<invitee> awaited() const;

  struct acceptance {
    const invitee& peer;
    const group_answer& answer;
  };
  /// Those that come. Good until the next change.
  std::vector<acceptance> accepted() const;
  /// Those that come, or may yet.
  std::vector<peer_id> hopeful() const;

  /// Half of those that made the last step, the leader included, or more, have
  /// not answered.
  bool most_makers_silent() const;
  /// Trainers were invited, and none comes.
  bool no_trainer_comes() const;
  /// More trainers have refused or are shunned than would be members with the
  /// leader; or as many, with the first of all trainers among them.
  bool outnumber(const peer_id& leader,
                 const std::vector<peer_id>& shunned) const;

private:
  struct invited {
    invitee peer;
    bool pending = true;
    std::optional<group_answer> accepted = {};
    bool against = false; ///< See `refuses`.
  };

  std::map<peer_id, invited> all_;
};

} // namespace potluck
