// What a trace knows of the sizes that are no numbers: the symbols that calls give, the formulas
// made of them, and what had to be decided about them.
//
// A formula is kept in one normal form, a polynomial with whole coefficients over symbols,
// quotients, remainders, minima and maxima; so n + n and 2 * n are the same Size. Facts are bounds
// of these parts, from what sizes are and from earlier decisions.

#pragma once

#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/polynomial.h"
#include "core/base/size.h"
#include "core/base/small_vector.h"

namespace tenon {

class SizeTable {
 public:
  SizeTable() = default;
  SizeTable(const SizeTable&) = delete;
  SizeTable& operator=(const SizeTable&) = delete;

  // While it lives, the sizes of this thread that are no numbers are formulas of `table`.
  class Use {
   public:
    explicit Use(SizeTable& table);
    ~Use();
    Use(const Use&) = delete;

   private:
    SizeTable* outer_;
  };
  // That table; an error if there is none.
  static SizeTable& current();
  static bool is_current(const SizeTable& table);

  // A size that a call gives. `example` is what it is in the call that is traced, if one is. The
  // same name gives the same symbol.
  Size symbol(const std::string& name, std::optional<int64_t> example = std::nullopt);
  // A size that is known once some of the code has run, under a name of its own.
  Size born();
  // The symbols of another table, with the same numbers, and what was decided of them. Those that
  // are born there will be born here, too, as others: theirs stand for nothing.
  Sizes take_over(const SizeTable& other, std::span<const std::optional<int64_t>> examples);
  bool is_born(size_t symbol) const { return atoms_[symbols_[symbol]].is_born; }
  bool has_births() const { return has_births_; }
  // Says that one is not more than another size.
  void bound(Size born, Size most);
  // The sizes for a look at what code takes that does not run: those that are born are as large as
  // they may be, and nothing where nobody says that.
  Sizes with_most(Sizes sizes) const;
  // Marks the symbol that a size is, if it is one, as such a size: code is read that makes it.
  void mark_born(Size size);
  // The symbols of that kind that a size is made of.
  std::vector<size_t> born_in(Size size) const;

  Size make(detail::SizeOp op, Size a, Size b);

  // Which way a test goes. Unless it can be proved, the example decides, or, without one, what
  // holds of large sizes that have nothing in common; and the answer becomes a guard.
  bool decide(const SizeTest& test);
  // Makes a test hold, by a guard if need be. False: it does not, by proof or in the example.
  bool hold(const SizeTest& test);
  // The number that a size is from now on, by a guard; an error if nothing says which.
  int64_t pin(Size size);
  // The number of a size that the host reads while it traces: a guard makes the trace serve that
  // number alone. Fails if a signature declares the size unknown, or if nothing says the number.
  int64_t read_on_host(Size size, std::string_view tensor, size_t axis);
  // The same without failing: gives the size in the call that is traced, or 0 if there is none, and
  // records the first failure for raise_failed_read().
  int64_t read_or_record_failure(Size size, std::string_view tensor, size_t axis) noexcept;
  void raise_failed_read() const {
    if (failed_read_) std::rethrow_exception(failed_read_);
  }
  // The sizes that calls give are unknown by a declared signature: the host may not read them.
  void forbid_host_reads() { host_may_read_ = false; }
  // The size in terms of what is still open: decisions may have made it a number.
  Size resolved(Size size);

  // What calls must make true, in the order in which it was decided.
  std::span<const SizeTest> guards() const { return guards_; }
  // Who decided it: "conv", "the gradient of conv", "a read by the host".
  std::string_view cause(size_t guard) const { return causes_[guard]; }

  // While it lives, decisions of this thread are recorded as caused by an op or its gradient.
  class Cause {
   public:
    explicit Cause(std::string_view op, bool is_gradient = false);
    ~Cause();
    Cause(const Cause&) = delete;
    Cause& operator=(const Cause&) = delete;

   private:
    std::string_view outer_op_;
    bool outer_is_gradient_;
  };
  // Fails if what was decided of a symbol that is born does not hold now that it has a value, and
  // with it all that were born before.
  void check_born(size_t symbol, std::span<const Size> values) const;

  size_t n_formulas() const { return formulas_.size(); }
  // As a formula is written: 2*n + 1.
  std::string text(Size size) const;
  std::string text(const SizeTest& test) const;

  size_t n_symbols() const { return symbols_.size(); }
  const std::string& symbol_name(size_t i) const { return atoms_[symbols_[i]].name; }
  // What a size is made of: the sum of its terms, each the product of a number and of parts.
  enum class PartKind : uint8_t { kSymbol, kQuotient, kRemainder, kMinimum, kMaximum };
  struct Part {
    PartKind kind;
    size_t symbol;  // Its number among them, of a symbol,
    Size a, b;      // and the operands of the others.
  };
  Polynomial terms(Size size) { return resolved_polynomial(size); }
  Part part(uint32_t atom) const {
    const Atom& x = atoms_[atom];
    return {x.kind, x.index, x.a, x.b};
  }
  // The symbol that a size is, if it is nothing but that.
  std::optional<size_t> symbol_of(Size size) const;

  // What a size and a test come to when symbol i is values[i]: a number, or a formula of the trace
  // under way.
  Size evaluate(Size size, std::span<const Size> values) const;
  SizeTest evaluate(const SizeTest& test, std::span<const Size> values) const;

 private:
  using AtomId = uint32_t;

  struct Atom {
    using Kind = PartKind;
    Kind kind = Kind::kSymbol;
    std::string name;  // Of a symbol, as its number among them.
    size_t index = 0;
    Size a = 0, b = 0;  // The operands of the others.
    std::optional<int64_t> example;
    bool is_born = false;
    Size most = 0;                // Of one that is born; 0: nobody says.
    int64_t least, greatest;      // What is known of it.
    std::optional<Size> instead;  // What an equality made of it.
  };

  Polynomial polynomial(Size size) const;
  Polynomial resolved_polynomial(Size size);
  Size size_of(Polynomial polynomial);
  Size atom(Atom atom);
  Size atom_size(AtomId id) { return size_of({{{id}, 1}}); }
  Size divide(Size a, Size b);
  Size remainder(Size a, Size b);
  Size extreme(Atom::Kind kind, Size a, Size b);

  struct Range {
    int64_t least, greatest;
  };
  Range range(const Polynomial& polynomial) const;
  std::optional<bool> prove(const SizeTest& test);
  std::optional<bool> asked_before(const SizeTest& test, const Polynomial& difference);
  std::optional<bool> answered_by(const SizeTest& guard, const SizeTest& test, Size as_one);
  void record(const SizeTest& test);
  void learn_equal(const Polynomial& difference);
  void learn_at_least(const Polynomial& difference, int64_t least);

  friend std::optional<int64_t> example_of(Size size);
  // The value under the example; symbols without one get a made-up size if `invent`.
  std::optional<int64_t> example(Size size, bool invent);
  std::optional<bool> example(const SizeTest& test, bool invent);
  template <class ValueOf>
  std::optional<int64_t> value(Size size, const ValueOf& value_of) const;

  std::vector<Atom> atoms_;
  std::vector<AtomId> symbols_;
  std::vector<Polynomial> formulas_;  // By Size::id().
  std::map<Polynomial, uint32_t> ids_;
  std::vector<SizeTest> guards_;     // Of sizes that calls give.
  std::vector<std::string> causes_;  // Of each guard.
  struct LateGuard {
    SizeTest test;
    size_t symbol;  // The last one born that it is about.
  };
  std::vector<LateGuard> late_guards_;
  bool has_births_ = false;
  bool asks_guards_ = false;
  bool host_may_read_ = true;
  std::exception_ptr failed_read_;
};

// Whether some of a size is known only once code has run.
inline bool is_born(Size size) {
  return !size.known() && !SizeTable::current().born_in(size).empty();
}

// What a size is in the call that is traced, if one is and it says.
std::optional<int64_t> example_of(Size size);

}  // namespace tenon
