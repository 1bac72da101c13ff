#include "runtime/step/self_report.hpp"

#include <algorithm>

#include "messages/limits.hpp"

namespace potluck {

self_report::self_report(const progress_report& stated)
    : own_(stated), states_upload_(stated.upload_bytes_per_second != 0),
      states_download_(stated.download_bytes_per_second != 0) {
}

void self_report::hold(const state_changed& x, const digest& reported) {
  own_.step = x.step;
  own_.history_samples = x.history_samples;
  own_.state = reported;
  own_.step_proof = {};
  held_ = x.state;
}

bool self_report::follow(const std::vector<progress_report>& holders) {
  if (holders.empty())
    return false;
  const auto& x = holders.front();
  own_.step = x.step;
  own_.state = x.state;
  own_.history_samples = x.history_samples;
  return true;
}

void self_report::enter_era(const digest& charter) {
  own_.charter = charter;
  if (own_.role == role::trainer)
    return; // Its state says where it stands.
  own_.step = 0;
  own_.state = {};
  own_.history_samples = 0;
}

void self_report::measure(const line_measured& x) {
  if (!states_upload_)
    own_.upload_bytes_per_second = x.upload;
  if (!states_download_)
    own_.download_bytes_per_second = x.download;
  own_.slow_pairs = x.slow_pairs;
}

bool self_report::stand(const cell_standing& x, bool busy) {
  if (x.contributes != own_.contributes && busy) {
    postponed_ = x;
    return false;
  }
  postponed_.reset();
  placed_ = told_place_ = true;
  own_.contributes = x.contributes;
  own_.sponsor = x.sponsor;
  own_.members = static_cast<std::uint32_t>(
      std::min<std::size_t>(x.members, max_members));
  return true;
}

void self_report::update(phase what, double samples_per_second, double loss) {
  own_.phase = what;
  own_.samples_per_second = samples_per_second;
  own_.loss = loss;
}

bool self_report::is_news(bool urgent, duration pause, time_point now) {
  if (!urgent && own_.contributes && own_.phase == announced_
      && now - announced_at_ < pause)
    return false;
  announced_ = own_.phase;
  announced_at_ = now;
  return true;
}

progress_report self_report::told(progress_report report) const {
  if (!placed_)
    report.phase = phase::joining; // As a member or not: it will say so.
  return report;
}

} // namespace potluck
