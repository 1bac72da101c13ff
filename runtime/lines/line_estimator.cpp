#include "runtime/lines/line_estimator.hpp"

#include <algorithm>
#include <utility>

#include "runtime/median.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// The beginning of a transfer, which says little about the line, and the
/// least length of a sample; both are longer where round trips are.
constexpr auto line_warm_up = 100ms;
constexpr auto line_sample = 100ms;
/// Without anything to send for so long, a round's sending is over.
constexpr auto line_pause = 500ms;
/// So many in a row, in each of which several were sent to for at least this
/// time without the upload being reached: then it is no longer believed.
constexpr unsigned line_weak_uploads = 2;
constexpr auto line_transfer = 500ms;
/// Bytes per second that come without anybody sending much: heartbeats and
/// reports of a hundred peers.
constexpr double line_trickle = 32e3;
/// Transfers in a row that stay clearly below the download that was once seen,
/// after which it is no longer believed: others may have had little to send.
constexpr unsigned line_weak_periods = 5;

/// From this part of a rate on, a sample counts as reaching it.
constexpr double reached = 0.8;
/// A sample so many times the one before is of a transfer that gains speed.
constexpr double growth = 1.25;
/// Round trips that TCP takes, after a pause, to be near a line's rate.
constexpr int warm_round_trips = 3;
/// A sample of less is dominated by how acknowledgements clump.
constexpr int sample_round_trips = 2;

/// Samples in which a machine stood still, of those that contradict a limit.
constexpr double stray_share = 0.1;

/// So many slow pairs at once are rather the line.
constexpr std::size_t several = 3;

} // namespace

double line_estimator::share::rate() const {
  return time <= duration{0}
             ? 0
             : static_cast<double>(bytes)
                   / std::chrono::duration<double>(time).count();
}

bool line_estimator::busy_period::warm() const {
  return length
         > std::max<duration>(line_warm_up, warm_round_trips * round_trip);
}

bool line_estimator::busy_period::complete() const {
  return sample.time
         >= std::max<duration>(line_sample, sample_round_trips * round_trip);
}

bool line_estimator::busy_period::growing(double rate) const {
  return last_rate > 0 && rate > growth * last_rate;
}

void line_estimator::observe(duration interval,
                             const std::vector<line_traffic>& traffic) {
  if (interval <= duration{0})
    return;
  observe_upload(interval, traffic);
  observe_download(interval, traffic);
}

void line_estimator::observe_upload(duration interval,
                                    const std::vector<line_traffic>& traffic) {
  bool busy = std::any_of(traffic.begin(), traffic.end(),
                          [](const auto& x) { return x.backlogged; });
  if (!busy) {
    sending_ = {};
    shares_.clear();
    transfer_.idle += interval;
    if (transfer_.idle >= line_pause)
      end_transfer();
    return;
  }
  transfer_.idle = {};
  for (const auto& x : traffic)
    if (x.backlogged)
      sending_.round_trip = std::max(sending_.round_trip, x.round_trip);
  sending_.length += interval;
  if (!sending_.warm())
    return;
  sending_.sample.time += interval;
  for (const auto& x : traffic) {
    sending_.sample.bytes += x.sent;
    if (x.backlogged) {
      auto& share = shares_[x.peer];
      share.bytes += x.sent;
      share.time += interval;
      served_.insert(x.peer);
    }
  }
  if (!sending_.complete())
    return;
  judge_upload();
  sending_.sample = {};
  shares_.clear();
}

void line_estimator::note_carried() {
  for (const auto& [peer, share] : shares_) {
    std::vector<double> others;
    for (const auto& [other, x] : shares_)
      if (other != peer)
        others.push_back(x.rate());
    auto usual
        = others.empty() ? upload_.rate() : upper_median(std::move(others));
    auto& known = carried_[peer];
    known.push_back({share.rate(), usual > 0 ? share.rate() / usual : 1});
    if (known.size() > pair_samples_kept)
      known.pop_front();
    // Else the line would never seem short, since this pair gets what it is
    // known for.
    if (has_outgrown(peer))
      pairs_.erase(peer);
  }
}

bool line_estimator::has_outgrown(const peer_id& peer) const {
  auto pair = pairs_.find(peer);
  const auto& known = carried_.at(peer);
  if (pair == pairs_.end() || known.size() < pair_samples)
    return false;
  auto most = growth * pair->second.rate();
  auto within = std::count_if(known.begin(), known.end(),
                              [&](auto& x) { return x.rate <= most; });
  return static_cast<double>(within)
         <= stray_share * static_cast<double>(known.size());
}

void line_estimator::end_transfer() {
  const auto ended = std::exchange(transfer_, {});
  if (ended.strong) {
    weak_transfers_ = 0;
    best_sent_weakly_ = 0;
  }
  if (ended.strong || ended.to_several < line_transfer)
    return;
  best_sent_weakly_ = std::max(best_sent_weakly_, ended.best);
  if (++weak_transfers_ < line_weak_uploads)
    return;
  // Several were sent to all the time: whoever's fault it is, the line has not
  // carried more.
  upload_ = {};
  for (std::size_t i = 0; i < least_samples; ++i)
    upload_.add(best_sent_weakly_, false);
  pairs_.clear();
  carried_.clear();
  weak_transfers_ = 0;
  best_sent_weakly_ = 0;
}

void line_estimator::judge_upload() {
  note_carried();
  const auto rate = sending_.sample.rate();
  const auto growing = sending_.growing(rate);
  sending_.last_rate = rate;
  if (shares_.size() >= several) {
    transfer_.to_several += sending_.sample.time;
    transfer_.best = std::max(transfer_.best, rate);
  }
  transfer_.strong = transfer_.strong || rate >= reached * upload_.rate();
  // What one peer alone got was its pair's doing, if several get more.
  if (shares_.size() > 1 && by_one_ && rate > growth * upload_.rate()) {
    upload_ = {};
    by_one_ = false;
  }
  if (upload_.rate() == 0 || rate >= reached * upload_.rate())
    upload_.add(rate, growing);
  // A line that is short slows everybody: as long as somebody gets what its
  // pair can do, the others' pairs are short. Whoever is alone could be either,
  // and is the line only where there is nobody else to know it by.
  bool all_slowed
      = std::all_of(shares_.begin(), shares_.end(), [this](const auto& x) {
          auto pair = pairs_.find(x.first);
          return pair == pairs_.end()
                 || x.second.rate() < reached * pair->second.rate();
        });
  bool of_the_line = shares_.size() > 1 && all_slowed;
  bool short_of_it = rate < reached * upload_.rate();
  if (short_of_it && of_the_line)
    upload_.add(rate, growing);
  if (shares_.size() == 1 || (short_of_it && !of_the_line))
    for (const auto& [peer, share] : shares_)
      pairs_[peer].add(share.rate(), growing);
  if (short_of_it && shares_.size() == 1 && served_.size() == 1)
    upload_.add(rate, growing);
}

void line_estimator::observe_download(
    duration interval, const std::vector<line_traffic>& traffic) {
  std::uint64_t bytes = 0;
  for (const auto& x : traffic)
    bytes += x.received;
  const auto trickle
      = line_trickle * std::chrono::duration<double>(interval).count();
  if (static_cast<double>(bytes) < trickle) {
    if (weak_ && !strong_)
      ++weak_periods_;
    if (weak_periods_ >= line_weak_periods) {
      download_ = {};
      download_.add(best_weak_, false);
      weak_periods_ = 0;
      best_weak_ = 0;
    }
    receiving_ = {};
    weak_ = strong_ = false;
    return;
  }
  for (const auto& x : traffic)
    if (x.received > 0)
      receiving_.round_trip = std::max(receiving_.round_trip, x.round_trip);
  receiving_.length += interval;
  if (!receiving_.warm())
    return;
  receiving_.sample.time += interval;
  receiving_.sample.bytes += bytes;
  if (!receiving_.complete())
    return;
  judge_download();
  receiving_.sample = {};
}

void line_estimator::judge_download() {
  const auto rate = receiving_.sample.rate();
  const auto growing = receiving_.growing(rate);
  receiving_.last_rate = rate;
  if (download_.rate() == 0 || rate >= reached * download_.rate()) {
    download_.add(rate, growing);
    strong_ = true;
    weak_periods_ = 0;
    best_weak_ = 0;
    return;
  }
  weak_ = true;
  best_weak_ = std::max(best_weak_, rate);
}

void line_estimator::forget(const peer_id& peer) {
  pairs_.erase(peer);
  carried_.erase(peer);
  shares_.erase(peer);
  served_.erase(peer);
}

double line_estimator::limit_to(const peer_id& peer) const {
  auto i = pairs_.find(peer);
  if (i == pairs_.end() || i->second.samples() < least_samples
      || i->second.rate() >= reached * upload_.rate())
    return 0;
  return i->second.rate();
}

double line_estimator::sure_limit_to(const peer_id& peer) const {
  auto i = carried_.find(peer);
  if (limit_to(peer) == 0 || i == carried_.end()
      || i->second.size() < pair_samples)
    return 0;
  double most = 0;
  std::vector<double> parts;
  for (const auto& x : i->second) {
    most = std::max(most, x.rate);
    parts.push_back(x.part);
  }
  return most < clearly_slow * upload_.rate()
                 && upper_median(std::move(parts)) < clearly_slow
             ? most
             : 0;
}

} // namespace potluck
