#include "runtime/admission/kept_admission.hpp"

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("what was kept is read again, and nothing of what was damaged") {
  const auto bytes = to_bytes(kept_admission{"token", "voucher"});
  CHECK(read_kept_admission(bytes).token == "token");
  CHECK(read_kept_admission(bytes).voucher == "voucher");
  CHECK(read_kept_admission(to_bytes(kept_admission{"token"})).token
        == "token");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = read_kept_admission(bytes.substr(0, size));
    CHECK((cut.token + cut.voucher).empty());
  }
  CHECK(read_kept_admission(bytes + "x").token.empty());
}
