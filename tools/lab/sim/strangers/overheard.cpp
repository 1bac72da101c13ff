#include "tools/lab/sim/strangers/overheard.hpp"

#include "messages/codec.hpp"

namespace potluck::simulation {

void overheard::learn(const peer_id& from, const message& what) {
  if (auto theirs = std::get_if<hello>(&what)) {
    if (!theirs->charter.empty() && charter_.empty()) {
      charter_ = theirs->charter;
      settings_ = theirs->settings;
    }
    if (!theirs->admission.empty() && admissions_.size() < most_overheard)
      admissions_.push_back(theirs->admission);
  } else if (auto report = std::get_if<progress_report>(&what)) {
    if (report->id == from && reports_.size() < most_overheard)
      reports_[from] = *report;
  } else if (auto found = std::get_if<records_found>(&what)) {
    for (const auto& x : found->records)
      if (auto said = decode_progress(x.value);
          said && records_.size() < most_overheard)
        records_[said->id] = x;
  }
}

progress_report overheard::imitation(const peer_id& who, const address& where,
                                     potluck::role as) const {
  progress_report result;
  for (const auto& [id, x] : reports_)
    if (x.role == role::trainer && x.history_samples >= result.history_samples)
      result = x;
  result.id = who;
  result.where = where;
  result.role = as;
  result.reach = reach::open;
  result.contributes = false;
  result.sponsor = {};
  result.contributors = 0;
  result.hubs.clear();
  result.slow_pairs.clear();
  if (result.charter.empty())
    result.charter = charter_;
  return result;
}

} // namespace potluck::simulation
