#include "tests/support/temporary_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>

#include <doctest/doctest.h>

namespace potluck::support {

namespace {

bool failed = false;

/// doctest tells its listeners, and nobody else, of failures as they happen.
struct failure_listener : doctest::IReporter {
  explicit failure_listener(const doctest::ContextOptions&) {
  }
  void report_query(const doctest::QueryData&) override {
  }
  void test_run_start() override {
  }
  void test_run_end(const doctest::TestRunStats&) override {
  }
  void test_case_start(const doctest::TestCaseData&) override {
    failed = false;
  }
  void test_case_reenter(const doctest::TestCaseData&) override {
    failed = false;
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override {
  }
  void test_case_exception(const doctest::TestCaseException&) override {
  }
  void subcase_start(const doctest::SubcaseSignature&) override {
  }
  void subcase_end() override {
  }
  void log_assert(const doctest::AssertData& x) override {
    failed = failed || x.m_failed;
  }
  void log_message(const doctest::MessageData&) override {
  }
  void test_case_skipped(const doctest::TestCaseData&) override {
  }
};

REGISTER_LISTENER("failures", 1, failure_listener);

} // namespace

bool this_test_failed() {
  return failed || std::uncaught_exceptions() > 0;
}

temporary_directory::temporary_directory() {
  auto pattern
      = (std::filesystem::temp_directory_path() / "potluck-test-XXXXXX")
            .string();
  if (!::mkdtemp(pattern.data()))
    throw std::system_error(errno, std::generic_category(), pattern);
  path_ = pattern;
}

temporary_directory::~temporary_directory() {
  if (this_test_failed())
    return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

} // namespace potluck::support
