// Tests report files with concurrent writers, full disks and killed processes.

#include <fstream>
#include <sstream>

#include "conformance/report/report_text.h"
#include "conformance/run/arguments.h"
#include "files/testing/writer_suite.h"

namespace tenon_kit {
namespace {

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct ReportWriter {
  void write(const std::string& path, int value) const {
    write_file(path, std::string(tenon_files::kWriterBytes, static_cast<char>('0' + value)));
  }
  int read(const std::string& path) const {
    const std::string text = text_of(path);
    const bool is_whole = text.size() == tenon_files::kWriterBytes &&
                          text.find_first_not_of(text[0]) == std::string::npos;
    return is_whole ? text[0] - '0' : -1;
  }
};

TENON_WRITER_TESTS(ReportFile, ReportWriter)

// A long run checks first whether its report can be written.
TEST(ReportFile, CheckWritableDoesNotChangeFiles) {
  const tenon_files::WriterFolder folder;
  check_writable(folder.file("new.json"));
  EXPECT_EQ(folder.n_files(), 0u);
  write_file(folder.file("old.json"), "{}");
  check_writable(folder.file("old.json"));
  EXPECT_EQ(text_of(folder.file("old.json")), "{}");
  EXPECT_EQ(folder.n_files(), 1u);
  EXPECT_THROW(check_writable(folder.file("no/such/folder.json")), std::runtime_error);
}

}  // namespace
}  // namespace tenon_kit
