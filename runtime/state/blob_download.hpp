/// The states and means that a joiner downloads: pieces are asked for by the
/// list that is believed, verified when they come, and put together.
///
/// Pieces are written straight into the vectors. Donors of one version are
/// interchangeable: its bytes depend only on what the digest covers. At most
/// one state comes at a time.
///
/// Pure: it is told what donors list and send, and says what to ask of whom.
/// What follows from a wrong list or piece is its owner's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/ports/piece_store.hpp"
#include "runtime/safeguards.hpp"
#include "runtime/state/download_plan.hpp"
#include "runtime/state/mean_course.hpp"
#include "runtime/state/piece_lists.hpp"
#include "runtime/state/preferred_relay.hpp"
#include "runtime/state/state_action.hpp"
#include "runtime/state/state_layout.hpp"
#include "runtime/state/training_state.hpp"
#include "runtime/state/vouchers.hpp"

namespace potluck {

class blob_download {
public:
  /// @param store For somebody without a model: pieces go there, states and
  /// means are not put together, and the lists say how long they are.
  explicit blob_download(download_plan::bounds most,
                         piece_store* store = nullptr,
                         safeguard_set guards = {})
      : guards_(guards), plan_(most), store_(store) {
  }
  /// A fetch begins, of a model of so many parameters, and of as many moments
  /// for each.
  void begin(std::uint64_t values, unsigned moments) {
    values_ = values;
    moments_ = moments;
    claims_ = {};
  }

  // ---- lists

  /// It says that this is the state after that step.
  void claim(const peer_id& who, std::uint64_t step, const digest& state) {
    claims_.claim(who, step, state);
  }
  const vouchers& claims() const {
    return claims_;
  }
  struct naming {
    std::set<peer_id> liars;
    std::string lie;                   ///< Of these.
    std::optional<coming_mean> coming; ///< A mean is fetched by it from now on.
  };
  /// `from` names this list of a state or mean that is wanted; of no other
  /// state, unless `clear` was called since.
  /// @param donors So many have been asked.
  naming name(const peer_id& from, const state_manifest& x, std::size_t donors,
              time_point now);
  const piece_lists& lists() const {
    return lists_;
  }

  // ---- donors

  /// Whether donors other than the relay are needed for a blob.
  bool needs_others(const preferred_relay& relay, time_point now) const;
  /// Says whom the pieces of each blob may be asked of by now: the relay alone
  /// while it does its work, else those of `answered` that named its list.
  void add_holders(const preferred_relay& relay,
                   const std::set<peer_id>& answered, time_point now);
  /// It is asked for nothing more.
  void leave(const peer_id& donor) {
    plan_.drop_donor(donor);
  }
  /// It is gone, and with it what it named; it `lied`: nor is that believed.
  void forget(const peer_id& donor, bool lied);
  void forget_donors() {
    lists_.forget_donors();
  }

  // ---- pieces

  /// What to ask of whom now. It counts as asked from here on.
  std::vector<std::pair<peer_id, piece_request>> requests(time_point now);
  /// Donors that are too late with a piece, each as often as it is.
  std::vector<peer_id> late(time_point now);

  enum class verdict {
    unwanted, ///< Of what is not fetched any more.
    gone,     ///< The donor has it no more.
    repeated, ///< It was here.
    wrong,    ///< It is not what the list names. Nothing has changed.
    placed,
  };
  /// A piece came. Also of which blob; nothing is said of an unwanted one's.
  std::pair<verdict, blob_key> read(const peer_id& from, const state_piece& x,
                                    const shared_bytes& body, time_point now);

  bool complete(const blob_key& key) const {
    return plan_.complete(key);
  }
  /// Pieces that are here, and all of them.
  std::pair<std::uint32_t, std::uint32_t> progress(const blob_key& key) const {
    return plan_.progress(key);
  }
  /// Whether most of those that know still say that the step led to the state
  /// that the believed list names.
  bool believes(const blob_key& key) const;
  /// Verifies the whole state, whose pieces must all be here, and hands it out.
  /// None when it is not what its list or most of those that know say.
  std::optional<training_state> take_state(const blob_key& key);
  /// The mean that completes this step; its pieces must all be here.
  mean_job job(std::uint64_t step) const;
  std::size_t means_known() const {
    return means_.size();
  }
  std::size_t means_held() const;
  /// What the way goes on with behind this step.
  /// @param votes Donors that have to name a later mean, or it is none.
  mean_course::view behind(std::uint64_t step, std::size_t votes) const;

  // ---- keeping

  /// Of a store: looks anew which pieces of the blob are there.
  void recount(const blob_key& key);

  /// The state of which a part is here; none: nothing worth keeping.
  std::optional<digest> begun() const;
  void drop(const blob_key& key);
  /// Means that nobody names and that are not all here are dropped.
  void drop_unheld();
  void clear();

private:
  /// A state that comes, its header apart.
  struct coming_state {
    blob_key key;
    state_header header;
    training_state values;
  };

  std::optional<coming_mean> load(const piece_lists::list& x);
  bool place(const blob_key& key, std::uint32_t piece,
             const shared_bytes& body);

  safeguard_set guards_;
  std::uint64_t values_ = 0;
  unsigned moments_ = most_moments;
  vouchers claims_;
  piece_lists lists_;
  download_plan plan_;
  piece_store* store_;
  std::optional<coming_state> state_;
  std::map<std::uint64_t, std::shared_ptr<std::vector<float>>> means_;
};

} // namespace potluck
