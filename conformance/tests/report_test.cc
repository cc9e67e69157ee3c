#include "conformance/report/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "conformance/kit/json.h"

namespace tenon_kit {
namespace {

const Heading kHeading = {.plugin = "device",
                          .version = "1.2",
                          .device = "device:0",
                          .profile = "strict",
                          .level = "6",
                          .seed = 7,
                          .n_claims = 2,
                          .n_whole = 5};

Row row(const char* op, Status status = Status::kPass, const char* check = "value") {
  return {.op = op, .dtypes = "f32", .check = check, .level = 2, .status = status, .cases = 3};
}

Report report() { return {kHeading, {"exp f32", "add f32"}}; }

// Creates a file with this text.
std::string file_with(const std::string& name, const std::string& text) {
  std::ofstream(name) << text;
  return name;
}

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Report, FailsWithAnyFault) {
  for (const Status status :
       {Status::kFail, Status::kCrash, Status::kTimeout, Status::kLeak, Status::kMistrusted}) {
    Report faulty = report();
    faulty.add(row("exp"));
    faulty.add(row("exp", status, "leaks"));
    EXPECT_FALSE(faulty.passed()) << name_of(status);
  }
  Report fine = report();
  fine.add(row("exp"));
  fine.add(row("relu6", Status::kUnsupported, "unclaimed"));
  EXPECT_TRUE(fine.passed());
}

TEST(Report, FailsACellDuringWhichThePluginLoggedAWarning) {
  Row silent = row("exp"), passed = row("exp"), crashed = row("exp", Status::kCrash);
  crashed.message = "it ended";
  add_plugin_log(silent, "");
  add_plugin_log(passed, "a layer's words");
  add_plugin_log(crashed, "a layer's words");
  EXPECT_EQ(silent.status, Status::kPass);
  EXPECT_EQ(passed.status, Status::kFail);
  EXPECT_EQ(passed.message, "the plugin logged: a layer's words");
  EXPECT_EQ(crashed.status, Status::kCrash);
  EXPECT_EQ(crashed.message, "it ended; the plugin logged: a layer's words");
}

TEST(Report, FailsIfNoCellWasRun) { EXPECT_FALSE(report().passed()); }

TEST(Report, FailsIfAWholeRunDoesNotExecuteAClaim) {
  for (const bool whole : {false, true}) {
    Report part = report();
    part.begin(1, whole);
    part.add(row("exp"));
    EXPECT_EQ(part.passed(), !whole);
  }
  Report all = report();
  all.begin(2, true);
  all.add(row("exp"));
  all.add(row("add"));
  EXPECT_TRUE(all.passed());
}

constexpr const char* kKnown =
    R"({"op": "exp", "dtypes": "f32", "check": "value", "reason": "a driver", "date": "2026-11-01"})";

TEST(Report, PassesWithAKnownFaultThatHasReasonAndDate) {
  Report known = report();
  known.read_known_faults(file_with("known", std::string("# faults\n") + kKnown + "\n"));
  known.add(row("exp", Status::kFail));

  EXPECT_TRUE(known.passed());
  known.write_json("known.json");
  const Json written = Json::parse(read("known.json"))["rows"][0];
  EXPECT_EQ(written["status"], "XFAIL");
  EXPECT_EQ(written["message"], "since 2026-11-01: a driver");
}

TEST(Report, FailsIfAKnownFaultPasses) {
  Report known = report();
  known.read_known_faults(file_with("known", kKnown));
  known.add(row("exp"));

  EXPECT_FALSE(known.passed());
  known.write_json("gone.json");
  EXPECT_EQ(Json::parse(read("gone.json"))["rows"][0]["status"], "XPASS");
}

TEST(Report, AppliesKnownFaultsToTheirOwnCellOnly) {
  Report known = report();
  known.read_known_faults(file_with("known", kKnown));
  known.add(row("exp", Status::kFail, "special"));
  EXPECT_FALSE(known.passed());
}

TEST(Report, AppliesKnownFaultsToTheirDriverOnly) {
  std::string line = kKnown;
  line.insert(1, R"("driver": "Swift", )");
  for (const char* driver : {"SwiftShader 5", "llvmpipe", ""}) {
    Report known({.driver = driver}, {"exp f32"});
    known.read_known_faults(file_with("known", line));
    known.add(row("exp", Status::kFail));
    EXPECT_EQ(known.passed(), std::string_view(driver) == "SwiftShader 5") << driver;
  }
}

TEST(Report, RefusesKnownFaultsWithoutReasonOrDate) {
  for (const char* text :
       {R"({"op": "exp", "dtypes": "f32", "check": "value", "date": "2026-11-01"})",
        R"({"op": "exp", "dtypes": "f32", "check": "value", "reason": "", "date": "2026-11-01"})",
        R"({"op": "exp", "dtypes": "f32", "check": "value", "reason": "a driver"})", "nonsense"}) {
    EXPECT_THROW(report().read_known_faults(file_with("known", text)), std::runtime_error) << text;
  }
  EXPECT_THROW(report().read_known_faults("no_such_file"), std::runtime_error);
}

TEST(Report, ResumesFromAnEarlierRun) {
  Report first = report();
  Row fault = row("exp", Status::kFail);
  fault.line = "{}";
  fault.curve = {{-1, 0.5, 3}, {1, 2, 3}};
  first.add(fault);
  first.write_json("first.json");

  Report second = report();
  EXPECT_EQ(second.read("first.json"), (std::set<std::string>{"exp f32 value"}));
  second.add(row("add"));
  EXPECT_FALSE(second.passed());  // A fault of the earlier run counts as well.
  second.write_json("second.json");
  const Json rows = Json::parse(read("second.json"))["rows"];
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["curve"], Json::parse("[[-1.0, 0.5, 3.0], [1.0, 2.0, 3.0]]"));
}

TEST(Report, CountsMistrustedCases) {
  Report some = report();
  Row plain = row("exp");
  plain.mistrusted = 2;
  some.add(plain);
  some.write_json("plain.json");

  testing::internal::CaptureStdout();
  some.end();

  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("cases: 3, of which 2 are degenerate, so they do not count as passed"),
            std::string::npos)
      << text;
  EXPECT_EQ(Json::parse(read("plain.json"))["rows"][0]["mistrusted"], 2);
  EXPECT_EQ(row_from_json(to_json(plain)).mistrusted, 2u);
}

TEST(Report, StoresInfiniteErrors) {
  Row fault = row("exp", Status::kFail);
  fault.ulp = INFINITY;
  fault.curve = {{1, INFINITY, INFINITY}};

  const Row again = row_from_json(Json::parse(to_json(fault).dump()));

  EXPECT_GT(again.ulp, 1e299);
  EXPECT_GT(again.curve[0].allowed, 1e299);
}

TEST(Report, RefusesToResumeFromADifferentRun) {
  Report first = report();
  first.add(row("exp"));
  first.write_json("first.json");
  Heading other = kHeading;
  other.seed = 8;

  EXPECT_THROW(Report(other, {}).read("first.json"), std::runtime_error);
  EXPECT_THROW(report().read(file_with("no_report", "[]")), std::runtime_error);
  EXPECT_THROW(report().read("no_such_file"), std::runtime_error);
}

TEST(Report, WritesValidJunitXml) {
  Report faulty = report();
  Row fault = row("exp", Status::kFail);
  fault.message = "a < b & \"c\"";
  faulty.add(fault);
  faulty.add(row("add"));
  faulty.write_junit("report.xml");

  const std::string xml = read("report.xml");
  EXPECT_NE(xml.find("tests=\"2\" failures=\"1\""), std::string::npos) << xml;
  EXPECT_NE(xml.find("message=\"a &lt; b &amp; &quot;c&quot;\""), std::string::npos) << xml;
}

// ---- the page

std::string page() {
  Heading heading = kHeading;
  heading.n_executed = 2;
  heading.notes = {"fma may round twice"};
  Row drawn = row("exp", Status::kPass, "curve");
  drawn.ulp = 0.98;
  drawn.curve = {{-8, 0.5, 3}, {-0.5, 0.25, 3}, {0.5, 0.98, 3}, {8, 4, 3}};
  Row fault = row("add", Status::kFail);
  fault.message = "element 1 is <5>, not 2";
  fault.line = R"({"op":"add"})";
  Row known = row("sub", Status::kExpectedFail);
  known.message = "since 2026-11-01: a driver";
  Row other = row("relu6", Status::kUnsupported, "unclaimed");
  other.message = "not claimed; the decomposition runs and passes";
  return html_page(heading, {drawn, fault, known, other});
}

TEST(Page, ContainsResultsFaultsAndCurves) {
  const std::string html = page();
  for (const char* text : {
           "device 1.2 on device:0",
           "✗ 1 faults",
           "2 / 2 / 5",
           "fma may round twice",
           // Description of a cell of the map.
           "exp f32 passed: 1 properties, 3 cases, at most 0.98 ulp",
           "add f32 has a fault",
           "element 1 is &lt;5&gt;, not 2",
           "--check value --case '{&quot;op&quot;:&quot;add&quot;}'",
           "since 2026-11-01: a driver",
           "relu6",
           "not claimed; the decomposition runs",
           "at most 4 ulp, near 8; bound 3",  // Caption of a curve.
           "beyond it at 1 places",
           "class=bound",
       }) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
}

TEST(Page, DoesNotCountChecksOfUnclaimedSignatures) {
  const std::string html = html_page(kHeading, {row("gemm", Status::kPass, "differences")});
  EXPECT_NE(html.find("gemm f32 nothing was run"), std::string::npos);
}

TEST(Page, NeedsNoNetworkAndNoScript) {
  const std::string html = page();
  for (const char* text : {"http:", "https:", "src=", "href=", "url(", "@import", "<script"}) {
    EXPECT_EQ(html.find(text), std::string::npos) << text;
  }
}

TEST(Page, SupportsDarkThemeAndPhones) {
  const std::string html = page();
  EXPECT_NE(html.find("@media(prefers-color-scheme:dark)"), std::string::npos);
  EXPECT_NE(html.find("width=device-width"), std::string::npos);
}

// Each status has a sign as well as a colour, and each figure has a label.
TEST(Page, ConveysNothingByColourAlone) {
  const std::string html = page();
  for (const char* text : {"\">✓", "\">✗", "\">!", "role=img aria-label=\"exp f32"}) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tenon_kit
