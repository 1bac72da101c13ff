/// The roster's side of telling others about this peer: whom, and how often.
#include <algorithm>

#include "actors/roster.hpp"
#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/ways/cells/cell_tally.hpp"
#include "runtime/config.hpp"

namespace potluck {

void roster_state::on(const own_report& x) {
  auto ended = x.report.phase == phase::finished
               && mine_.report.phase != phase::finished;
  if (x.report.charter != mine_.report.charter
      || x.report.contributes != mine_.report.contributes)
    next_dialling_ = {};
  // Who comes has little to tell but how far it is: others may wait for it.
  const auto& before = mine_.report;
  if (before.phase == phase::joining
      && (x.report.phase != before.phase || x.report.step != before.step
          || x.report.charter != before.charter
          || x.report.contributes != before.contributes))
    last_round_of_news_.reset();
  // A leader waits for who falls behind, if it knows: a run with steps as short
  // as the pause between two rounds of news may leave it behind for ever.
  const auto joining = x.report.phase == phase::joining;
  if (!joining || before.phase != phase::joining)
    leaders_due_ = true;
  mine_ = x;
  mine_since_ = self_->clock().now();
  report_due_ = true;
  if (ended) {
    tell_everybody_mine();
    if (wired_.router && listening_.port != 0 && publishes())
      publish(); // Who comes now should know why everybody leaves.
  } else if (x.urgent) {
    spread_report();
  }
  if (mine_.report.charter.empty())
    next_publication_ = self_->clock().now();
}

void roster_state::write_report() {
  auto& mine = mine_.report;
  mine.id = config_.self;
  mine.role = config_.role;
  mine.where = own_address();
  if (!told_reachable_)
    mine.where.port = 0;
}

// ---- directly
// ---------------------------------------------------------------------

void roster_state::tell_mine(const guest& g) {
  // A bootstrap peer only has to know whom not to name to others.
  if (g.news.role == role::expert)
    return; // It has no use for it.
  if (g.news.role != role::bootstrap || mine_.report.contributes)
    self_->send(g.session, parcel{g.news.who.id, mine_by_now(), {}});
}

progress_report roster_state::mine_by_now() const {
  auto result = mine_.report;
  if (result.contributes && result.phase == phase::accumulating) {
    auto age = std::min<duration>(self_->clock().now() - mine_since_,
                                  limits::longest_look);
    auto more = samples_since(result.samples, result.samples_per_second, age);
    result.samples = std::min(
        result.samples + static_cast<std::uint64_t>(std::min(more, 1e18)),
        max_samples);
  }
  return result;
}

void roster_state::tell_everybody_mine() {
  write_report();
  report_due_ = false;
  leaders_due_ = false;
  last_round_of_news_ = self_->clock().now();
  if (!mine_.report.contributes)
    for (auto& id : near_)
      tell_mine(guests_.at(id));
  tell_cells();
}

bool roster_state::due(cell_news& told, const headline& now_true,
                       duration pause) const {
  auto now = self_->clock().now();
  if (now_true == told.what && now - told.at < pause)
    return false;
  told = {now_true, now};
  return true;
}

void roster_state::tell_cells() {
  const auto& mine = mine_.report;
  headline own{mine.step,
               mine.state,
               mine.contributes,
               mine.sponsor,
               mine.phase != phase::joining && mine.phase != phase::finished,
               mine.samples != 0};
  // A contributor of another cell has to know where this member is, for it may
  // ask for the mean there; a contributor's other member only that it is there.
  auto other = own;
  other.has_samples = false;
  if (mine.contributes) {
    other.step = 0;
    other.state = {};
  }
  auto changes = told_own_cell_.what.contributes != mine.contributes;
  duration own_pause = limits::cell_news_pause;
  duration others_pause = limits::cell_news_pause;
  if (mine.contributes) {
    own_pause = pace_.report;
    others_pause = limits::other_member_news_pause;
  }
  auto to_own = due(told_own_cell_, own, own_pause);
  auto to_others = due(told_other_cells_, other, others_pause);
  if (!to_own && !to_others)
    return;
  // Whom it does not name it leaves.
  auto leaves = [&](const guest& g) {
    return g.news.role == role::bootstrap
           || (wants_few() && !named(g.news.who.id));
  };
  for (auto& [id, g] : guests_) {
    auto own_cell = mine.contributes ? id == mine.sponsor : g.in_own_cell;
    if (in_a_cell(g) && (own_cell ? to_own : to_others)
        && (changes || !leaves(g)))
      tell_mine(g);
  }
}

void roster_state::spread_report() {
  const auto near = mine_.report.contributes ? 0 : near_.size();
  const auto many = near - std::min(near, limits::few_peers);
  const auto joining = mine_.report.phase == phase::joining;
  auto pause = std::min<duration>(limits::report_pause_per_peer
                                      * static_cast<int>(many),
                                  limits::longest_report_round);
  if (joining)
    pause = std::max<duration>(pause, limits::newcomers_report_pause);
  if (!last_round_of_news_
      || self_->clock().now() - *last_round_of_news_ >= pause) {
    tell_everybody_mine();
    return;
  }
  // Those who lead, now or next, decide by what they hear.
  if (!leaders_due_)
    return;
  leaders_due_ = false;
  write_report();
  if (mine_.report.contributes)
    return;
  std::size_t leaders = 0;
  for (auto& id : near_) {
    if (leaders == limits::leaders_told_at_once)
      break;
    if (auto& g = guests_.at(id); g.news.role == role::trainer) {
      ++leaders;
      tell_mine(g);
    }
  }
}

// ---- in the DHT
// ---------------------------------------------------------------------

bool roster_state::publishes() const {
  if (mine_.report.contributes)
    return false;
  if (links_ || config_.role != role::trainer
      || mine_.report.phase == phase::founding)
    return true;
  return looked_up_
         && (!charter_heard_at_
             || self_->clock().now() - *charter_heard_at_
                    > limits::charter_news);
}

void roster_state::publish() {
  write_report();
  spread_report();
  duration pause = limits::publish_interval;
  if (mine_.report.charter.empty())
    pause = limits::joining_publish_interval;
  else if (acquainted_)
    pause = limits::acquainted_publish_interval;
  auto now = self_->clock().now();
  next_publication_ = now + pause;
  auto key = key_of("run/" + config_.run);
  const auto& id = config_.self.bytes;
  auto life = std::chrono::milliseconds{limits::report_life};
  if (publishes())
    self_->send(wired_.router,
                publish_record{{key, std::string(id.begin(), id.end()),
                                encode_progress(mine_.report),
                                static_cast<std::uint32_t>(life.count())},
                               {},
                               limits::report_copies});
  // What all answer with grows with the peers, and so does who asks.
  auto since = now - last_look_up_;
  if (since < look_up_pause()
      || (looking_up_ && since < limits::look_up_patience))
    return;
  last_look_up_ = now;
  looking_up_ = true;
  look_up_records asked{key, caf::actor_cast<roster_actor>(self_)};
  for (const auto& [peer, g] : guests_)
    if (g.heard) // They go on telling us, sooner than the DHT would.
      asked.known.emplace_back(peer.bytes.begin(), peer.bytes.end());
  asked.most = asked_for_ = records_wanted();
  self_->send(wired_.router, std::move(asked));
}

std::uint32_t roster_state::records_wanted() const {
  // To found a run all have to be known; whether there is one shows at once.
  if (looked_up_ && !charter_heard_at_)
    return 0;
  const auto few = config_.role == role::trainer && (!links_ || wants_few());
  return few ? limits::records_of_few : records_of_many;
}

bool roster_state::heard_anybody() const {
  return std::any_of(guests_.begin(), guests_.end(),
                     [](const auto& g) { return g.second.heard; });
}

duration roster_state::look_up_pause() const {
  if (mine_.report.charter.empty())
    return duration::zero();
  return acquainted_
             ? std::min<duration>(guests_.size()
                                      * limits::look_up_pause_per_peer,
                                  limits::longest_look_up_pause)
             : std::min<duration>(guests_.size() * meeting_pause_per_peer,
                                  longest_meeting_pause);
}

} // namespace potluck
