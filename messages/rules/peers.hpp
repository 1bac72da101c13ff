/// What peers MUST say of themselves and of others: the handshake, the DHT and
/// progress reports.
#pragma once

#include <vector>

#include "messages/handshake.hpp"
#include "messages/limits.hpp"
#include "messages/progress.hpp"
#include "messages/routing.hpp"
#include "messages/rules/rules.hpp"

namespace potluck::checks {

inline void check(rules& must, const hello& x) {
  must.hold(!x.id.empty(), "the sender's id is missing");
  must.known(x.role);
  must.text(x.run, max_run_bytes, "the run's name");
  must.hold(x.settings.size() <= max_settings, "there are too many settings");
  for (auto& s : x.settings) {
    must.hold(!s.name.empty(), "a setting has no name");
    must.text(s.name, max_setting_name_bytes, "a setting's name");
    must.text(s.value, max_setting_value_bytes, "a setting's value");
  }
  must.host(x.seen_host);
  must.hold(x.admission.size() <= max_admission_bytes,
            "the admission is too long");
}

inline void check(rules& must, const refusal& x) {
  must.hold(!x.sentence.empty(), "the refusal gives no reason");
  must.text(x.sentence, max_sentence_bytes, "the refusal's sentence");
}

inline void check(rules& must, const goodbye& x) {
  must.text(x.reason, max_sentence_bytes, "the reason");
}

inline void marks(rules& must, const known_marks& xs) {
  must.hold(xs.size() <= max_known, "it knows too many names");
}

inline void contacts(rules& must, const std::vector<contact>& xs) {
  must.hold(xs.size() <= max_contacts, "there are too many contacts");
  for (auto& x : xs)
    must.contact_of(x);
}

inline void records(rules& must, const std::vector<dht_record>& xs) {
  must.hold(xs.size() <= max_records, "there are too many records");
  for (auto& x : xs) {
    must.hold(x.value.size() <= max_record_value_bytes, "a value is too long");
    must.hold(x.kind != record_kind::none && x.kind <= record_kind::coordinates,
              "a record's kind is unknown");
    must.hold(!x.seal.signer.empty(), "a record's signer is missing");
    must.hold(x.seal.life_ms <= max_record_life_ms, "a record lives too long");
    must.hold(x.lives_ms > 0, "a record has no life left");
    must.hold(x.lives_ms <= x.seal.life_ms,
              "a record outlives what its owner signed");
  }
}

inline void check(rules& must, const find_nodes& x) {
  marks(must, x.known_nodes);
}

inline void check(rules& must, const nodes_found& x) {
  contacts(must, x.nodes);
}

inline void check(rules& must, const store_records& x) {
  must.hold(!x.records.empty(), "there is no record to store");
  records(must, x.records);
}

inline void check(rules& must, const records_stored& x) {
  must.hold(x.accepted <= max_records,
            "more records were kept than fit a frame");
}

inline void check(rules& must, const find_records& x) {
  marks(must, x.known_nodes);
  marks(must, x.known_records);
  must.hold(x.most <= max_records, "more records are wanted than fit a frame");
}

inline void check(rules& must, const records_found& x) {
  records(must, x.records);
  contacts(must, x.nodes);
  must.hold(x.stored <= max_stored, "more records of a key than a node keeps");
}

inline void check(rules& must, const progress_report& x) {
  must.hold(!x.id.empty(), "the reporter's id is missing");
  must.where(x.where);
  must.known(x.role);
  must.hold(x.phase <= phase::founding, "the phase is unknown");
  must.hold(x.step <= max_step, "the step is too large");
  must.hold(x.history_samples <= max_history_samples,
            "the history is too long");
  must.hold(x.samples <= max_samples, "there are too many samples");
  must.real(x.samples_per_second, "the speed");
  must.real(x.upload_bytes_per_second, "the upload bandwidth");
  must.real(x.download_bytes_per_second, "the download bandwidth");
  must.loss(x.loss);
  must.hold(x.contributes || x.sponsor.empty(),
            "a peer that does not contribute has a sponsor");
  must.hold(x.contributors <= max_contributors,
            "there are too many contributors");
  must.hold(x.members <= max_members, "there are too many members");
  must.pairs(x.slow_pairs);
  must.hold(x.reach <= reach::symmetric, "the reach is unknown");
  must.hold(x.hubs.size() <= max_hubs, "there are too many hubs");
  for (auto& hub : x.hubs)
    must.contact_of(hub);
  must.hold(x.step_proof.signer.empty() == x.step_proof.proof.empty(),
            "a step's signature is not whole");
  must.where(x.also);
  must.hold(x.also.host.empty() == (x.also.port == 0),
            "a second address is not whole");
}

} // namespace potluck::checks
