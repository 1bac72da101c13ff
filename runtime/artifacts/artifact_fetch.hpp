/// Fetches the artifacts of a run from peers of the run, several at a time.
///
/// Anybody of the run may be asked, and whoever has not what is asked for says
/// so. Of each artifact the list of its pieces comes first, which must be the
/// one that the charter names; then every piece is held against it, so a liar
/// is known by its first wrong piece, and left. Which piece is asked of whom
/// `download_plan` says. Pure: facts and the time come in, actions go out.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "runtime/artifacts/artifact_action.hpp"
#include "runtime/state/download_plan.hpp"

namespace potluck {

class artifact_fetch {
public:
  struct bounds {
    download_plan::bounds plan;
    std::size_t donors; ///< That are asked at once.
  };

  /// @param self Decides in which order others are asked: each peer has
  ///     another one, so that they spread.
  /// @param wanted Those that are not here.
  artifact_fetch(const peer_id& self, bounds most, artifact_list wanted);

  /// A peer of the run is connected,
  artifact_actions met(const peer_id& who, time_point now);
  /// or is not any more.
  artifact_actions lost(const peer_id& who, time_point now);
  artifact_actions read(const peer_id& from, const artifact_piece& x,
                        const shared_bytes& body, time_point now);
  /// Answers `look_for_pieces`.
  artifact_actions found(const artifact& of, const std::vector<bool>& sound,
                         time_point now);
  /// Looks at deadlines.
  artifact_actions look(time_point now);

  /// All were finished, and nobody is asked any more.
  bool complete() const {
    return finished_ == wanted_.size();
  }
  /// The bytes of all, and of pieces that are here.
  std::uint64_t bytes_wanted() const;
  std::uint64_t bytes_here() const {
    return bytes_here_;
  }
  /// Those that are asked now and have brought something.
  std::size_t donors() const;

private:
  struct item {
    artifact it;
    piece_sums sums; ///< Empty: the list is not here.
    bool finished = false;
  };
  struct donor {
    bool asked = false;        ///< Now.
    time_point not_before;     ///< Is it asked,
    duration rest{0};          ///< after it was not for so long.
    std::uint64_t arrived = 0; ///< Since it is asked,
    std::uint64_t lately = 0;  ///< and since the last turn.
    /// It was asked then, and has sent nothing since.
    std::optional<time_point> waits_since;
    std::set<blob_key> has; ///< Or has not said otherwise.
  };

  /// Lists before pieces.
  static blob_key list_of(std::size_t index) {
    return {false, index};
  }
  static blob_key pieces_of(std::size_t index) {
    return {true, index};
  }
  std::optional<blob_key> key_of(const sha256_digest& content) const;
  const sha256_digest& content_of(const blob_key& x) const;

  void add(const blob_key& key, std::uint32_t pieces,
           std::uint32_t piece_bytes);
  bool may_be_asked(const peer_id& who, const donor& x, time_point now) const;
  void engage(time_point now);
  void take_turns(time_point now);
  /// It is not asked any more, until then.
  void rest(const peer_id& who, duration how_long, time_point now);
  void lies(const peer_id& who, const std::string& what);
  void declines(const peer_id& who, const blob_key& what, time_point now);
  void take_list(const peer_id& from, std::size_t index,
                 const shared_bytes& body);
  void take_piece(const peer_id& from, std::size_t index, std::uint32_t piece,
                  const shared_bytes& body);
  void finish_if_whole(std::size_t index);
  artifact_actions done(time_point now);

  peer_id self_;
  bounds most_;
  std::vector<item> wanted_;
  download_plan plan_;
  std::set<blob_key> open_; ///< What the plan has.
  std::map<peer_id, donor> donors_;
  std::map<peer_id, std::uint64_t> liars_; ///< Numbered as they were found out.
  std::uint64_t lies_ = 0;
  time_point next_turn_{};
  std::uint64_t bytes_here_ = 0;
  std::size_t finished_ = 0;
  artifact_actions actions_;
};

} // namespace potluck
