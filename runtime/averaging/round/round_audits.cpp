#include "runtime/averaging/round/round_audits.hpp"

#include <iterator>
#include <utility>

namespace potluck {

namespace {

round_orders both(round_orders a, round_orders b) {
  a.insert(a.end(), std::make_move_iterator(b.begin()),
           std::make_move_iterator(b.end()));
  return a;
}

} // namespace

round_audits::round_audits(const group_contract& contract, const chunk_map& map,
                           std::size_t self, averaging_rule rule,
                           std::shared_ptr<denials> denials)
    : linear_{rule.how == aggregator::mean}, means_{contract, map, self, rule},
      sums_{contract, map, self, rule,
            denials ? denials : std::make_shared<potluck::denials>()} {
}

void round_audits::draw(random_stream& chance, std::uint64_t nonce,
                        bool sees_all) {
  if (linear_)
    sums_.draw(chance, nonce);
  else if (sees_all)
    means_.draw(chance);
}

std::optional<round_orders> round_audits::shown(std::size_t by,
                                                const chunk_part& head,
                                                const shared_bytes& body) {
  if (sums_.gathers(head.chunk))
    return sums_.shown(by, head, body);
  if (means_.checks(head.chunk))
    return means_.shown(by, head, body);
  return std::nullopt;
}

round_orders round_audits::receive(std::size_t by, const message& content,
                                   const evidence_source& means,
                                   const evidence_source& sums) {
  auto out = means_.receive(by, content, means);
  return both(std::move(out), sums_.receive(by, content, sums));
}

round_orders round_audits::all_here(const evidence_source& means) {
  if (auto drawn = means_.take_drawn())
    if (auto mean = means(*drawn))
      return means_.check(*drawn, std::nullopt, *mean);
  return {};
}

round_orders round_audits::waited_for(std::uint32_t chunk) {
  auto out = means_.waited_for(chunk);
  return both(std::move(out), sums_.waited_for(chunk));
}

} // namespace potluck
