#include "runtime/averaging/round/round_jury.hpp"

#include <iterator>
#include <utility>

#include "runtime/averaging/means_inquiry.hpp"

namespace potluck {

namespace {

void add(round_orders more, round_orders& out) {
  std::move(more.begin(), more.end(), std::back_inserter(out));
}

/// @param hasty Has ended rounds, or taken their lead, too often.
void doubt(std::optional<std::size_t> hasty, round_orders& out) {
  if (hasty)
    out.emplace_back(members_in_doubt{
        {*hasty},
        "it calls rounds off, or takes their lead, without a reason"});
}

} // namespace

round_jury::round_jury(const round_terms& what,
                       const round_agreement& agreement, const round_bulk& bulk,
                       const member_watch& watch)
    : agreement_(agreement), bulk_(bulk),
      watch_(watch), names_{what.guards.has(safeguard::naming)},
      faults_{bulk.map(), agreement.members().self(), what.contract},
      hasty_{std::chrono::milliseconds{what.contract.patience_ms}, what.rule,
             what.call_offs},
      audits_{what.contract, bulk.map(), agreement.members().self(), what.rule,
              what.denials} {
}

// ---- data -------------------------------------------------------------------

round_orders round_jury::part_refused(std::size_t member,
                                      const std::string& why) {
  // The reducer does without it: the member itself can stay for now.
  auto out = faults_.blame(member, "a part that cannot be summed: " + why);
  add(faults_.refused(member, agreement_.members().self()), out);
  return out;
}

round_orders round_jury::mean_here(std::size_t by, const chunk_mean& x) {
  round_orders out;
  // Only a heal's means lack members for any other reason.
  if (x.version == 1)
    for (auto member : x.left_out)
      add(faults_.refused(member, by), out);
  return out;
}

// ---- words ------------------------------------------------------------------

round_orders round_jury::heard(std::size_t by, const message& content) {
  auto out = audits_.receive(by, content, means(), sums());
  add(judge_if_all_spoke(), out);
  return out;
}

round_orders round_jury::judge_if_all_spoke() {
  if (agreement_.decided()
      && audits_.all_spoke([this](auto i) { return watch_.present(i); }))
    return judge();
  return {};
}

// ---- the end ----------------------------------------------------------------

round_orders round_jury::decided(round_outcome news) {
  round_orders out;
  doubt(hasty_.over(news.committed && !watch_.lost_patience(),
                    agreement_.members()),
        out);
  if (news.committed && bulk_.needs_means())
    add(audits_.committed(sums()), out);
  if (!inquires_after(news.committed)) {
    out.emplace_back(std::move(news));
    return out;
  }
  inquires_ = true;
  add(audits_.inquire(findings_of(agreement_.ledger(), bulk_.map(),
                                  *bulk_.places().whole()),
                      std::move(news)),
      out);
  add(judge_if_all_spoke(), out);
  return out;
}

bool round_jury::inquires_after(bool commit) const {
  return !commit && bulk_.needs_means() && agreement_.ledger().complete()
         && agreement_.members().size() != 1 && names_;
}

round_orders round_jury::judge() {
  if (agreement_.standing() != standing::aborted)
    return {};
  auto out = audits_.judge();
  const bool explained = names_liars(out);
  if (!std::exchange(inquires_, false))
    return out;
  // Whoever makes means again, for a heal, is not asked what it told whom.
  const auto& odd = agreement_.odd_ones();
  if (!explained && !odd.empty() && !agreement_.ledger().healed())
    out.emplace_back(members_in_doubt{
        odd, "it says that it has other means than it was given"});
  doubt(hasty_.compared(explained, agreement_.members()), out);
  return out;
}

round_orders round_jury::reminded(std::optional<std::uint32_t> chunk) {
  if (chunk)
    return audits_.waited_for(*chunk);
  if (agreement_.decided())
    return judge();
  // Others have heard of the end before us.
  return {audit_reminder{limits::findings_patience, std::nullopt}};
}

round_orders round_jury::give_up() {
  auto out = judge();
  add(audits_.give_up(), out);
  return out;
}

} // namespace potluck
