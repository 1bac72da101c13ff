/// What organisers' words and admissions MUST hold.
#pragma once

#include "messages/limits.hpp"
#include "messages/organiser.hpp"
#include "messages/rules/rules.hpp"

namespace potluck::checks {

inline void check(rules& must, const amendments_request& x) {
  must.text(x.run, max_run_bytes, "the run's name");
}

inline void check(rules& must, const amendments_reply& x) {
  must.text(x.run, max_run_bytes, "the run's name");
  must.hold(x.amendments.size() <= max_amendments,
            "there are too many amendments");
  for (auto& amendment : x.amendments) {
    must.hold(!amendment.bytes.empty(), "an amendment is empty");
    must.hold(amendment.bytes.size() <= max_amendment_bytes,
              "an amendment is too long");
  }
}

inline void check(rules& must, const admission_request& x) {
  must.text(x.run, max_run_bytes, "the run's name");
  must.hold(x.claim.size() <= max_claim_bytes, "the claim is too long");
}

inline void check(rules& must, const admission_reply& x) {
  must.hold(x.admission.size() <= max_admission_bytes,
            "the admission is too long");
  must.text(x.sentence, max_sentence_bytes, "the reason");
  must.hold(x.admission.empty() || x.sentence.empty(),
            "it is granted and refused at once");
}

inline void check(rules& must, const admission_shown& x) {
  must.hold(!x.admission.empty(), "there is no admission");
  must.hold(x.admission.size() <= max_admission_bytes,
            "the admission is too long");
}

} // namespace potluck::checks
