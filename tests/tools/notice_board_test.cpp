#include "tools/potluck/notice_board.hpp"

#include <doctest/doctest.h>

using potluck::tools::notice_board;
using namespace std::chrono_literals;

TEST_CASE("a sentence that is said again and again is told now and then") {
  notice_board board;
  const notice_board::time_point start{};
  board.post("no expert answers", start);
  board.post("no expert answers", start + 1s);
  board.post("the disk is full", start + 1s);
  CHECK(board.take()
        == std::vector<std::string>{"no expert answers", "the disk is full"});
  CHECK(board.take().empty());
  board.post("no expert answers", start + 29s);
  CHECK(board.take().empty());
  board.post("no expert answers", start + 30s);
  CHECK(board.take().size() == 1);
}

TEST_CASE("sentences that are never taken down do not pile up") {
  notice_board board;
  for (int i = 0; i < 10'000; ++i)
    board.post("sentence " + std::to_string(i));
  CHECK(board.take().size() < 100);
}
