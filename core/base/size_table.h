// The dynamic sizes of a trace: symbols, whose values are bound in each call, formulas of symbols,
// and the decisions that tracing has made about them.
//
// A formula has a canonical form: a polynomial with integer coefficients over symbols, quotients,
// remainders, minima and maxima. For example, n + n and 2 * n are the same Size. Symbols,
// quotients, remainders, minima and maxima are called atoms. Known facts are lower and upper bounds
// of atoms. They follow from the definition of the atom (sizes are not negative) and from earlier
// decisions.

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

  // While a Use exists, the formulas of this thread belong to `table`.
  class Use {
   public:
    explicit Use(SizeTable& table);
    ~Use();
    Use(const Use&) = delete;

   private:
    SizeTable* outer_;
  };
  // Returns the table that this thread uses. Fails if there is none.
  static SizeTable& current();
  static bool is_current(const SizeTable& table);

  // Returns the symbol of that name. Each call of the function binds the symbol to a size.
  // `example` is its size in the traced call, if there is such a call.
  Size symbol(const std::string& name, std::optional<int64_t> example = std::nullopt);
  // Creates a data-dependent size, with a unique name. Its value becomes known when the graph runs.
  Size new_data_dependent();
  // Imports the symbols of another table, in the same order, and its guards. Data-dependent symbols
  // of the other table are replaced by new ones of this table.
  Sizes import_symbols(const SizeTable& other, std::span<const std::optional<int64_t>> examples);
  bool is_data_dependent(size_t symbol) const { return atoms_[symbols_[symbol]].is_data_dependent; }
  bool has_data_dependent_symbols() const { return has_data_dependent_; }
  // Records an upper bound of a data-dependent size.
  void set_upper_bound(Size size, Size most);
  // Replaces data-dependent sizes by their upper bounds, or by 0 if there is no bound. Used to
  // estimate the memory of a graph without running it.
  Sizes with_upper_bounds(Sizes sizes) const;
  // Marks a size as data-dependent if it is a single symbol. Used when the graph that computes the
  // size is parsed.
  void mark_data_dependent(Size size);
  // Returns the data-dependent symbols that occur in a size.
  std::vector<size_t> data_dependent_symbols_of(Size size) const;

  // Returns the simplified formula `a op b`.
  Size make(detail::SizeOp op, Size a, Size b);

  // Evaluates a test. A test that known facts do not decide is evaluated for the sizes of the
  // traced call. Without a traced call, sizes are assumed to be large and unrelated. The result
  // becomes a guard.
  bool decide(const SizeTest& test);
  // Makes a test true, by a guard if necessary. Returns false if known facts or the sizes of the
  // traced call contradict it.
  bool hold(const SizeTest& test);
  // Fixes a size to its number in the traced call, by a guard. Fails if there is no such number.
  int64_t pin(Size size);
  // Returns the number of a size that the host reads during tracing. A guard restricts the trace to
  // that number. Fails if a signature declares the size unknown, or if there is no traced call.
  int64_t read_on_host(Size size, std::string_view tensor, size_t axis);
  // The variant of read_on_host() for callers that cannot handle errors. Returns the size in the
  // traced call, or 0 if there is none. Stores the first failure, which raise_failed_read() throws
  // later.
  int64_t read_or_record_failure(Size size, std::string_view tensor, size_t axis) noexcept;
  // Throws the failure that read_or_record_failure() stored, if there is one.
  void raise_failed_read() const {
    if (failed_read_) std::rethrow_exception(failed_read_);
  }
  // Makes read_on_host() fail. Used if a signature declares sizes of inputs as unknown.
  void forbid_host_reads() { host_may_read_ = false; }
  // Rewrites a size by the equalities learned so far. The result may be a number.
  Size resolved(Size size);

  // The conditions that calls must satisfy, in the order of the decisions.
  std::span<const SizeTest> guards() const { return guards_; }
  // Returns the source of a guard, for messages: "conv", "the gradient of conv", "a read by the
  // host".
  std::string_view cause(size_t guard) const { return causes_[guard]; }

  // While a Cause exists, guards that this thread adds are attributed to an op or its gradient.
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
  // Fails if a guard on a data-dependent symbol does not hold. Called when the symbol and all
  // earlier ones have values.
  void check_data_dependent(size_t symbol, std::span<const Size> values) const;

  size_t n_formulas() const { return formulas_.size(); }
  // Formats a formula: 2*n + 1.
  std::string text(Size size) const;
  std::string text(const SizeTest& test) const;

  size_t n_symbols() const { return symbols_.size(); }
  const std::string& symbol_name(size_t i) const { return atoms_[symbols_[i]].name; }
  // terms() and part() expose the structure of a size. A size is a sum of terms. A term is an
  // integer coefficient times a product of parts: symbols, quotients, remainders, minima and
  // maxima.
  enum class PartKind : uint8_t { kSymbol, kQuotient, kRemainder, kMinimum, kMaximum };
  struct Part {
    PartKind kind;
    size_t symbol;  // Index of the symbol if kind is kSymbol.
    Size a, b;      // Operands if kind is not kSymbol.
  };
  // Returns the terms whose sum is the size.
  Polynomial terms(Size size) { return resolved_polynomial(size); }
  // Returns the part with this number, which a term lists in `atoms`.
  Part part(uint32_t atom) const {
    const Atom& x = atoms_[atom];
    return {x.kind, x.index, x.a, x.b};
  }
  // Returns the index of the symbol if the size is a single symbol.
  std::optional<size_t> symbol_of(Size size) const;

  // Substitutes values[i] for symbol i in a size or a test. Values are numbers or formulas of the
  // current trace.
  Size evaluate(Size size, std::span<const Size> values) const;
  SizeTest evaluate(const SizeTest& test, std::span<const Size> values) const;

 private:
  using AtomId = uint32_t;

  struct Atom {
    using Kind = PartKind;
    Kind kind = Kind::kSymbol;
    std::string name;  // Name of a symbol; `index` is its number.
    size_t index = 0;
    Size a = 0, b = 0;  // Operands of a quotient, remainder, minimum or maximum.
    std::optional<int64_t> example;
    bool is_data_dependent = false;
    Size most = 0;                // Upper bound if data-dependent; 0: unknown.
    int64_t least, greatest;      // Known bounds.
    std::optional<Size> instead;  // Set by learn_equal(): the formula that replaces the atom.
  };

  Polynomial polynomial(Size size) const;
  // Returns the polynomial of `size` after rewriting by the equalities learned so far.
  Polynomial resolved_polynomial(Size size);
  // Returns the size that a polynomial represents. Adds a formula if it is new.
  Size size_of(Polynomial polynomial);
  // Returns an atom as a size. Adds the atom if it is new.
  Size atom(Atom atom);
  Size atom_size(AtomId id) { return size_of({{{id}, 1}}); }
  Size divide(Size a, Size b);
  Size remainder(Size a, Size b);
  // Returns the minimum or the maximum, as `kind` specifies.
  Size extreme(Atom::Kind kind, Size a, Size b);

  struct Range {
    int64_t least, greatest;
  };
  // Returns bounds that follow from the bounds of the atoms.
  Range range(const Polynomial& polynomial) const;
  // Decides a test by known facts. Returns nullopt if they do not suffice.
  std::optional<bool> prove(const SizeTest& test);
  // Returns the result of `test` if an earlier guard implies it. `difference` is test.b - test.a.
  std::optional<bool> answer_from_guards(const SizeTest& test, const Polynomial& difference);
  std::optional<bool> answer_from_guard(const SizeTest& guard, const SizeTest& test,
                                        Size difference_size);
  // Adds a guard that makes the test true, and learns facts from it.
  void record(const SizeTest& test);
  // Records the fact difference == 0: replaces one of its atoms by a formula of its other atoms.
  void learn_equal(const Polynomial& difference);
  // Records the fact difference >= least as a bound of an atom.
  void learn_at_least(const Polynomial& difference, int64_t least);

  friend std::optional<int64_t> example_of(Size size);
  // Returns the value of a size or test in the traced call. If `invent` is true, symbols without a
  // size in the traced call get an arbitrary large one.
  std::optional<int64_t> example(Size size, bool invent);
  std::optional<bool> example(const SizeTest& test, bool invent);
  // Evaluates a size. value_of(symbol) returns the value of a symbol, if it is known.
  template <class ValueOf>
  std::optional<int64_t> value(Size size, const ValueOf& value_of) const;

  std::vector<Atom> atoms_;
  std::vector<AtomId> symbols_;
  std::vector<Polynomial> formulas_;  // Indexed by Size::id().
  std::map<Polynomial, uint32_t> ids_;
  std::vector<SizeTest> guards_;     // Conditions that are checked before a call runs.
  std::vector<std::string> causes_;  // The source of each guard, for messages.
  struct LateGuard {
    SizeTest test;
    size_t symbol;  // The data-dependent symbol in the test that gets its value last.
  };
  std::vector<LateGuard> late_guards_;
  bool has_data_dependent_ = false;
  bool is_querying_guards_ = false;
  bool host_may_read_ = true;
  std::exception_ptr failed_read_;
};

// Whether a size contains data-dependent symbols.
inline bool is_data_dependent(Size size) {
  return !size.known() && !SizeTable::current().data_dependent_symbols_of(size).empty();
}

// Returns the value of a size in the traced call; nullopt if no call is being traced or it does not
// determine the size.
std::optional<int64_t> example_of(Size size);

}  // namespace tenon
