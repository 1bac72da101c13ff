/// What a round does about parts and means that are late: it goes on without
/// such parts, and holds it against members that they do not send what they
/// have. Brings together what `bulk_watch` saw and what was agreed.
#pragma once

#include <vector>

#include "runtime/averaging/round/bulk_watch.hpp"
#include "runtime/averaging/round/round_agreement.hpp"

namespace potluck {

/// What a heal still has to make here, each without the parts that are late;
/// nothing where none is.
std::vector<average_chunk> without_late(const bulk_watch& owed,
                                        const round_agreement& agreement);

/// Patience has ended while others' means were to come.
/// Whoever has all means, or is to make some, and sends none, needs nobody for
/// it: a reducer does without parts that are late.
void note_withheld(const round_agreement& agreement, bulk_watch& owed);

} // namespace potluck
