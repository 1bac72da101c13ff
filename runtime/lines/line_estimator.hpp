/// What this peer's line can do, from the traffic that happens anyway: upload,
/// download, and pairs that are slower than the line.
///
/// What was sent says something about a line only while more was waiting. So a
/// sample counts the bytes that arrived at the others during a time in which
/// something was always waiting for somebody, and leaves out the beginning, in
/// which TCP gains speed. README.md has the rules.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"
#include "runtime/lines/rate_window.hpp"

namespace potluck {

/// What passed between us and one peer within an interval.
struct line_traffic {
  peer_id peer;
  std::uint64_t sent = 0; ///< Bytes that it acknowledged.
  std::uint64_t received = 0;
  bool backlogged = false; ///< All the time, more was waiting for it.
  duration round_trip{0};  ///< 0: unknown.
};

class line_estimator {
public:
  /// @param interval How long `traffic` took; intervals follow each other
  /// without gaps. Peers without traffic may be left out.
  void observe(duration interval, const std::vector<line_traffic>& traffic);

  /// A peer has left.
  void forget(const peer_id& peer);

  /// Bytes per second; 0 as long as it is unknown.
  double upload() const {
    return upload_.samples() < least_samples ? 0 : upload_.rate();
  }

  /// The highest rate that was sustained lately; a lower bound, for nobody here
  /// knows whether more was waiting at the others. 0: unknown.
  double download() const {
    return download_.rate();
  }

  /// Of the pair, where it is clearly below the upload; else 0.
  double limit_to(const peer_id& peer) const;

  /// The same for plans, where a wrong one costs more than a missing one: the
  /// most that the pair carried lately, where that is far below the upload, and
  /// the pair got far less than others at the same time.
  double sure_limit_to(const peer_id& peer) const;

  /// More samples of the upload would hardly change it.
  bool sure_of_upload() const {
    return upload_.samples() >= sure_samples;
  }

private:
  /// Fewer may all be of TCP's beginning, or of its recovery from a loss.
  static constexpr std::size_t least_samples = 3;
  /// With fewer a moment in which this machine, or another, stood still may be
  /// most of them.
  static constexpr std::size_t sure_samples = 6;
  /// Of a pair, the last so many count; and so many there must be.
  static constexpr std::size_t pair_samples_kept = 45;
  static constexpr std::size_t pair_samples = 12;
  static constexpr double clearly_slow = 0.4;

  /// What a pair carried in a sample.
  struct carried {
    double rate = 0;
    double part
        = 0; ///< Of what the others then got, or of the upload if alone.
  };

  struct share {
    std::uint64_t bytes = 0;
    duration time{0};

    double rate() const;
  };

  /// A time without gaps, in which there was always something to measure.
  struct busy_period {
    duration length{0};
    duration round_trip{0}; ///< The longest.
    share sample;
    double last_rate = 0; ///< Of the sample before; 0: none.

    bool warm() const;
    bool complete() const;
    bool growing(double rate) const;
  };

  /// A round's sending, with its short pauses.
  struct transfer {
    duration idle{0};
    duration to_several{0}; ///< In samples.
    double best = 0;        ///< Of these.
    bool strong = false;    ///< The upload was reached.
  };

  void observe_upload(duration interval,
                      const std::vector<line_traffic>& traffic);
  void end_transfer();
  void judge_upload();
  void note_carried();
  /// It carried clearly more than its limit in nearly all samples kept.
  bool has_outgrown(const peer_id& peer) const;
  void observe_download(duration interval,
                        const std::vector<line_traffic>& traffic);
  void judge_download();

  rate_window upload_;
  bool by_one_ = true;       ///< Known from one peer at a time only.
  std::set<peer_id> served_; ///< Who was ever backlogged.
  std::map<peer_id, rate_window> pairs_; ///< Of who was alone or held back.
  std::map<peer_id, std::deque<carried>> carried_; ///< In any sample.
  busy_period sending_;
  std::map<peer_id, share> shares_; ///< Of the sample, while backlogged.
  transfer transfer_;
  unsigned weak_transfers_ = 0; ///< In a row.
  double best_sent_weakly_ = 0; ///< In them.

  rate_window download_;
  busy_period receiving_;
  std::uint64_t weak_periods_ = 0; ///< In a row without a strong sample.
  double best_weak_ = 0;           ///< In them.
  bool strong_ = false;            ///< In the present one.
  bool weak_ = false;
};

} // namespace potluck
