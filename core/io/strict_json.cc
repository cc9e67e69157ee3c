#include "core/io/strict_json.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/error.h"

namespace tenon {
namespace {

using Parser = nlohmann::json;

// Builds a document from the events of nlohmann's SAX parser. Each event takes constant or
// logarithmic time, regardless of the size of the enclosing object or array.
class StrictBuilder final : public nlohmann::json_sax<Parser> {
 public:
  StrictBuilder(size_t deepest, std::string_view what) : deepest_(deepest), what_(what) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override { return add(uint64_t{value}); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // Cannot occur in text.

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [member, is_new] = open_.back()->items().try_emplace(name);
    require_code(is_new, Code::kDataLoss, "{} has the key \"{}\" twice", what_, name);
    member_ = &member->second;
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const Parser::exception& error) override {
    fail(Code::kDataLoss, "{} is not valid JSON: {}", {what_, error.what()});
  }

 private:
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back()->is_object()) return *member_ = std::move(value);
    return open_.back()->elements().emplace_back(std::move(value));
  }

  bool add(Json value) {
    place(std::move(value));
    return true;
  }

  // Appends an object or array and makes it the innermost open one. The pointer to it in `open_`
  // stays valid, because an enclosing array does not grow before the value is closed.
  bool open(Json value) {
    require_code(open_.size() < deepest_, Code::kDataLoss, "{} is nested too deeply", what_);
    open_.push_back(&place(std::move(value)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const size_t deepest_;
  const std::string_view what_;
  Json root_;
  std::vector<Json*> open_;  // The enclosing objects and arrays, outermost first.
  Json* member_ = nullptr;   // Where the value of the last key is stored.
};

}  // namespace

Json parse_strict_json(std::string_view text, int deepest, std::string_view what) {
  StrictBuilder builder(static_cast<size_t>(deepest), what);
  try {
    Parser::sax_parse(text, &builder);
  } catch (const Parser::exception& error) {  // Also thrown for numbers that are out of range.
    fail(Code::kDataLoss, "{} is not valid JSON: {}", {what, error.what()});
  }
  return builder.take();
}

}  // namespace tenon
