#include "tools/lab/judge/conduct_promises.hpp"

namespace potluck {

namespace {

bool begins(const std::string& text, const std::string& with) {
  return text.rfind(with, 0) == 0;
}

} // namespace

fair_blame::fair_blame(ledger& all, const terms& run)
    : promise(all, "no honest peer is banned, refused or blamed"),
      honest_(run.honest), all_honest_(run.all_honest) {
}

void fair_blame::told(const teller& who, duration at, const event& x) {
  if (x.name != "ban" && x.name != "fault")
    return;
  const auto peer = text_of(x, "peer");
  const auto detail = text_of(x, "detail");
  const auto what = text_of(x, "what");
  malformed_ += what == "malformed frame";
  // A peer that dials itself, by an address that another identity of its had,
  // refuses itself.
  if (begins(detail, "This is the same identity")) {
    ++itself_;
    return;
  }
  std::string blame;
  if (x.name == "ban")
    blame = " banned the honest peer " + peer;
  else if (what == "bad data")
    blame = " found bad data in what the honest peer " + peer + " sent";
  else if (what == "bad donor"
           // One that is slow or gone may be given up; one that served the
           // truth is no liar.
           && detail.find("its pieces do not make") != std::string::npos)
    blame = " says of the honest donor " + peer;
  else if (all_honest_ && (begins(what, "refused") || begins(what, "banned")))
    blame = " tells of the honest peer " + peer + " that it " + what;
  if (blame.empty())
    return;
  ++refusals_;
  check(!is_honest(peer), at,
        [&] { return who.called() + blame + ": " + detail; });
}

finite_means::finite_means(ledger& all, const terms&)
    : promise(all, "no mean that is committed holds a value that is not "
                   "finite") {
}

void finite_means::told(const teller& who, duration at, const event& x) {
  if (x.name == "fault" && text_of(x, "what") == "mean refused")
    check(text_of(x, "detail").find("not finite") == std::string::npos, at,
          [&] {
            return who.called() + " committed a round whose mean is not finite";
          });
}

} // namespace potluck
