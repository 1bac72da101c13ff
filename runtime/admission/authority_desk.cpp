#include "runtime/admission/authority_desk.hpp"

#include <utility>

namespace potluck {

authority_desk::outcome authority_desk::look_at(std::vector<claim> claims,
                                                std::uint64_t now_ms) {
  outcome result;
  auto done = book_.begin();
  for (auto& x : claims)
    if (done)
      done = look_at(std::move(x), now_ms, result);
  // What was written before something failed is kept: those ask again.
  const auto written = book_.commit();
  if (!done || !written)
    return {{}, {}, done ? written.error() : done.error()};
  return result;
}

expected<bool> authority_desk::look_at(claim x, std::uint64_t now_ms,
                                       outcome& out) {
  admission_reply reply{x.what.token, {}, {}};
  const auto claimed = read_claim(x.what.claim);
  if (how_.runs.count(x.what.run) == 0) {
    reply.sentence = "This peer is no authority of run '"
                     + shown_run(x.what.run) + "'; ask the organiser who is.";
  } else if (!claimed) {
    reply.sentence = "The claim " + claimed.error() + ".";
  } else {
    const auto run = id_in(x.what.run);
    const auto verdict
        = book_.judge(run, x.from, *claimed,
                      {now_ms, how_.token_ms, how_.grant_ms, how_.machines,
                       x.vetted, how_.by_list && how_.by_list->has(x.what.run)},
                      *how_.signs);
    if (!verdict)
      return failure{verdict.error()};
    if (verdict->until_ms > now_ms) {
      reply.admission = to_bytes(
          issue({run, x.from, now_ms, verdict->until_ms, {}}, *how_.signs));
    } else if (verdict->may_ask && how_.has_program && !x.vetted) {
      out.to_vet.push_back(std::move(x));
      return true;
    } else {
      reply.sentence = verdict->sentence;
    }
  }
  out.answers.push_back({x.from, std::move(reply)});
  return true;
}

} // namespace potluck
