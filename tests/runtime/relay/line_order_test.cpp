/// A direct connection takes over from a circuit, and no frame is overtaken.
#include "runtime/relay/line_order.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

constexpr connection_id circuit(connection_id n) {
  return n | (connection_id{1} << 63);
}

} // namespace

TEST_CASE(
    "a direct connection is preferred, and read when the circuit is done") {
  line_order x;
  CHECK(x.add(circuit(1)).empty());
  CHECK(x.way() == circuit(1));
  x.use(circuit(1));
  CHECK(x.add(5) == std::vector<connection_id>{circuit(1)});
  CHECK(x.way() == 5);
  CHECK(x.holds(5));
  CHECK_FALSE(x.holds(circuit(1)));
  CHECK(x.spent().empty());
  x.switched(circuit(1));
  CHECK_FALSE(x.holds(5));
  CHECK(x.spent() == std::vector<connection_id>{circuit(1)});
  CHECK_FALSE(x.remove(circuit(1)));
  x.use(5);
  CHECK(x.remove(5));
}

TEST_CASE("each circuit hears of the switch once, whichever came first") {
  line_order x;
  CHECK(x.add(5).empty());
  CHECK(x.add(circuit(1)) == std::vector<connection_id>{circuit(1)});
  CHECK(x.add(6).empty());
  CHECK(x.add(circuit(2)) == std::vector<connection_id>{circuit(2)});
  CHECK(x.way() == 5);
  x.switched(circuit(1));
  CHECK(x.holds(5));
  CHECK_FALSE(x.remove(circuit(2))); // It never carried anything.
  CHECK_FALSE(x.holds(5));
}

TEST_CASE("only a direct connection is better than a circuit") {
  line_order x;
  CHECK_FALSE(x.repeats(circuit(1)));
  x.add(circuit(1));
  CHECK(x.repeats(circuit(2)));
  CHECK_FALSE(x.repeats(5));
  x.add(5);
  CHECK(x.repeats(6));
  CHECK(x.repeats(circuit(2)));
}

TEST_CASE("what may be lost with a connection ends the session") {
  line_order cut; // The circuit breaks before the other side has switched.
  cut.add(circuit(1));
  cut.use(circuit(1));
  cut.add(5);
  CHECK(cut.remove(circuit(1)));

  line_order back; // Nobody reads the circuit any more.
  back.add(circuit(1));
  back.add(5);
  CHECK(back.remove(5));

  line_order spare;
  spare.add(circuit(1));
  spare.add(circuit(2));
  spare.use(circuit(1));
  CHECK_FALSE(spare.remove(circuit(2)));
  CHECK(spare.remove(circuit(1)));
}
