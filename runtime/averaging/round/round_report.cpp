#include "runtime/averaging/round/round_report.hpp"

namespace potluck {

round_report::round_report(const round_terms& what, const chunk_map& map)
    : patience_{std::chrono::milliseconds{what.contract.patience_ms}},
      helpers_{map, what.plan.predicted_seconds} {
}

round_outcome
round_report::outcome(const round_decision& x, const round_agreement& agreement,
                      const round_bulk& bulk, const member_watch& watch,
                      const bulk_watch& owed, const round_outbox& out) const {
  round_outcome news;
  news.committed = x.commit;
  news.samples = x.samples;
  if (x.commit) {
    news.left_out = agreement.ledger().left_out();
    news.healed = agreement.ledger().healed();
    if (bulk.needs_means())
      news.mean = bulk.places().whole();
  }
  watch.report(news, agreement.members(), owed, patience_);
  if (bulk.needs_means())
    news.stalled = helpers_.stalled(agreement.members(), agreement.ledger(),
                                    x.commit, watch.waited_for());
  news.bytes_sent = out.bytes_sent();
  news.bytes_received = out.bytes_received();
  return news;
}

} // namespace potluck
