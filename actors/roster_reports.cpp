/// The roster's side of telling others about this peer: whom, and how often.
#include <algorithm>

#include "actors/roster.hpp"
#include "messages/codec.hpp"
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
  report_due_ = true;
  if (ended)
    tell_everybody_mine();
  else if (x.urgent)
    spread_report();
  if (mine_.report.charter.empty())
    next_publication_ = self_->clock().now();
}

void roster_state::write_report() {
  auto& mine = mine_.report;
  mine.id = config_.self;
  mine.role = config_.role;
  mine.where = own_address();
}

// ---- directly
// ---------------------------------------------------------------------

void roster_state::tell_mine(const peer_id& id, const guest& g) {
  // A bootstrap peer only has to know whom not to name to others.
  if (g.news.role == role::expert)
    return; // It has no use for it.
  if (g.news.role != role::bootstrap || mine_.report.contributes)
    self_->send(wired_.gateway, parcel{id, mine_.report, {}});
}

void roster_state::tell_everybody_mine() {
  write_report();
  report_due_ = false;
  leaders_due_ = false;
  last_round_of_news_ = self_->clock().now();
  for (auto& [id, g] : guests_)
    if (!in_a_cell(g))
      tell_mine(id, g);
  tell_cells();
}

void roster_state::tell_cells() {
  const auto& mine = mine_.report;
  headline now_true{mine.step,
                    mine.state,
                    mine.contributes,
                    mine.sponsor,
                    mine.phase != phase::joining
                        && mine.phase != phase::finished,
                    mine.samples != 0};
  auto now = self_->clock().now();
  auto pause
      = mine.contributes ? pace_.report : duration{limits::cell_news_pause};
  if (now_true == told_cells_ && now - told_cells_at_ < pause)
    return;
  auto changes = told_cells_.contributes != now_true.contributes;
  told_cells_ = now_true;
  told_cells_at_ = now;
  // A contributor's other member only has to know that it is there.
  auto rarely = mine.contributes && now_true == told_rarely_
                && now - told_rarely_at_ < 2 * pace_.report;
  if (!rarely) {
    told_rarely_ = now_true;
    told_rarely_at_ = now;
  }
  // Whom it does not name it leaves.
  auto leaves = [&](const guest& g) {
    return g.news.role == role::bootstrap
           || (wants_few() && !named(g.news.who.id));
  };
  for (auto& [id, g] : guests_)
    if (in_a_cell(g) && (changes || !leaves(g))
        && (!rarely || id == mine.sponsor))
      tell_mine(id, g);
}

void roster_state::spread_report() {
  const auto near
      = mine_.report.contributes ? 0 : guests_.size() - contributing_;
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
  std::size_t leaders = 0;
  for (auto& [id, g] : guests_) {
    if (leaders == limits::leaders_told_at_once)
      break;
    if (g.news.role == role::trainer && !in_a_cell(g)) {
      ++leaders;
      tell_mine(id, g);
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
                               {}});
  // What all answer with grows with the peers, and so does who asks.
  if (acquainted_ && now - last_look_up_ < look_up_pause())
    return;
  last_look_up_ = now;
  self_->send(wired_.router,
              look_up_records{key, caf::actor_cast<roster_actor>(self_)});
}

duration roster_state::look_up_pause() const {
  if (mine_.report.charter.empty())
    return duration::zero();
  return std::min<duration>(guests_.size() * limits::look_up_pause_per_peer,
                            limits::longest_look_up_pause);
}

} // namespace potluck
