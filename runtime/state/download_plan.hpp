/// Which piece is asked of which donor, and when it is asked of another.
///
/// Knows counts and times, no bytes: whoever owns it sends the requests,
/// verifies what comes and says so here. Each donor has a window of requests
/// that follows what its line carries (its rate times its delay, as in BBR,
/// Cardwell et al. 2016), and a deadline from its own times. Pure; the order of
/// everything follows from the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/membership/observed_durations.hpp"
#include "runtime/state/blob_key.hpp"

namespace potluck {

class download_plan {
public:
  struct bounds {
    std::uint64_t bytes_in_flight; ///< From one donor.
    duration floor;                ///< Of a piece's deadline.
    duration cap;
    /// What a donor is asked for before its line is known, and at least.
    std::uint64_t least_in_flight = 0;
  };
  struct request {
    peer_id donor;
    blob_key blob;
    std::uint32_t piece = 0;
  };
  /// Pieces that a donor's window is never below: one on its way, one waiting.
  static constexpr std::size_t least_window = 2;
  /// Who is asked for one piece at once, when nothing else is left to ask for.
  static constexpr std::size_t askings_at_once = 2;

  explicit download_plan(bounds most);

  /// @param pieces Not zero. A blob that is known already stays as it is.
  void add(const blob_key& blob, std::uint32_t pieces,
           std::uint32_t piece_bytes);
  void drop(const blob_key& blob);

  /// `donor` has the blob, or no longer.
  void add_holder(const blob_key& blob, const peer_id& donor);
  void drop_holder(const blob_key& blob, const peer_id& donor);
  /// It left, or sent something wrong: what was asked of it is asked of others.
  void drop_donor(const peer_id& donor);

  /// What to ask for now. It counts as asked from here on.
  std::vector<request> next(time_point now);

  /// Requests beyond their donor's deadline: asked of others from here on, and
  /// of that donor last. It is asked for less, and stays.
  std::vector<request> expire(time_point now);

  /// A piece has come from the donor, asked for or not. True when it is the
  /// first of its kind: then the caller verifies it and calls `place` or
  /// `drop_donor`.
  bool arrived(const request& x, std::uint64_t bytes, time_point now);
  void place(const blob_key& blob, std::uint32_t piece);

  bool complete(const blob_key& blob) const;
  /// Pieces placed, and all of them.
  std::pair<std::uint32_t, std::uint32_t> progress(const blob_key& blob) const;
  /// Bytes of whole pieces asked of the donor and not yet there.
  std::uint64_t outstanding(const peer_id& donor) const;

private:
  struct piece {
    bool placed = false;
    std::uint8_t askings = 0;
    peer_id late; ///< Who was too slow with it; empty: nobody.
  };
  struct blob {
    std::vector<piece> pieces;
    std::uint32_t piece_bytes = 0;
    std::uint32_t placed = 0;
    std::uint32_t first_missing = 0; ///< Below it, nothing waits to be asked.
    std::set<peer_id> holders;
  };
  struct asking {
    time_point at;
    std::uint64_t received_then; ///< What the donor had sent us by then.
  };
  struct donor {
    std::map<std::pair<blob_key, std::uint32_t>, asking> asked;
    std::uint64_t outstanding = 0; ///< Bytes of `asked`.
    std::uint64_t received = 0;
    double rate = 0; ///< Bytes a second: the highest of late.
    duration fastest{0};
    observed_durations times;
    bool late = false; ///< Nothing has come since its last expired request.
  };

  bool has_room(const donor& x, std::uint32_t piece_bytes) const;
  void ask(const peer_id& id, const blob_key& key, blob& b, std::uint32_t piece,
           time_point now, std::vector<request>& out);
  void give_up(const request& x);
  donor* most_free(const blob& b, std::uint32_t piece, peer_id& id);
  void ask_twice(time_point now, std::vector<request>& out);
  std::uint64_t window_of(const donor& x) const;

  bounds most_;
  std::map<blob_key, blob> blobs_;
  std::map<peer_id, donor> donors_;
};

} // namespace potluck
