#include "tools/tenon/npy.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "files/atomic_file.h"
#include "tools/tenon/failure.h"

namespace tenon::command {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr uint32_t kMaxHeaderBytes = 65536;

// Names of dtypes in NumPy, without the byte order.
constexpr std::pair<std::string_view, DType> kNames[] = {
    {"b1", kBool},   {"i1", kInt8},    {"i2", kInt16},   {"i4", kInt32},
    {"i8", kInt64},  {"u1", kUint8},   {"u2", kUint16},  {"u4", kUint32},
    {"u8", kUint64}, {"f2", kFloat16}, {"f4", kFloat32}, {"f8", kFloat64}};

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Failure(fmt::format("{}: {}", path, what));
}

// Opens a file. Throws a Failure if that fails.
File open(const std::string& path, const char* mode) {
  FILE* const file = std::fopen(path.c_str(), mode);
  if (!file) fail(path, std::strerror(errno));
  return File(file);
}

// Reads `size` bytes. Throws a Failure if the file has fewer.
void read_exactly(FILE* file, const std::string& path, void* to, size_t size) {
  if (std::fread(to, 1, size, file) != size) {
    fail(path, "the file ends too early, or cannot be read: it is not a complete .npy file");
  }
}

uint64_t size_of_file(FILE* file, const std::string& path) {
  long size = -1;
  if (std::fseek(file, 0, SEEK_END) == 0) size = std::ftell(file);
  if (size < 0 || std::fseek(file, 0, SEEK_SET) != 0) fail(path, "is not a regular file");
  return static_cast<uint64_t>(size);
}

// Parses the header of a file: a Python dictionary literal with three entries in any order.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyArray read() {
    std::optional<DType> dtype;
    std::optional<bool> is_fortran_order;
    std::optional<Shape> shape;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr" && !dtype) {
        dtype = dtype_of(quoted());
      } else if (key == "fortran_order" && !is_fortran_order) {
        is_fortran_order = boolean();
      } else if (key == "shape" && !shape) {
        shape = tuple();
      } else {
        bad(fmt::format("the entry '{}' is unknown or occurs twice", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (at_ != text_.size()) bad("something follows the dictionary");
    if (!dtype || !is_fortran_order || !shape) bad("descr, fortran_order or shape is missing");
    return {*dtype, *shape, *is_fortran_order, ""};
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    fail(path_,
         fmt::format("the header is not a .npy header: {} (at byte {} of the header)", what, at_));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char wanted) {
    skip();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) bad(fmt::format("there is no '{}'", wanted));
  }
  bool accept_word(std::string_view word) {
    skip();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::string_view quoted() {
    skip();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
      bad("expected a quoted string; structured arrays are not supported");
    }
    const size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) bad("a text has no end");
    const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return text;
  }
  bool boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    bad("fortran_order is neither True nor False");
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      skip();
      int64_t size = 0;
      const char* const begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) bad("a size is no number from 0 to 2^63 - 1");
      at_ += static_cast<size_t>(end - begin);
      shape.push_back(size);
      if (shape.size() > TENON_MAX_RANK) {
        bad(fmt::format("there are more than {} axes", TENON_MAX_RANK));
      }
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  DType dtype_of(std::string_view descr) const {
    const char order = descr.empty() ? '\0' : descr[0];
    for (const auto& [name, dtype] : kNames) {
      if (descr.empty() || descr.substr(1) != name) continue;
      if (order == '<' || (order == '|' && name[1] == '1')) return dtype;
      if (order == '>') {
        fail(path_, fmt::format("the elements are big-endian, '{}'; save x.astype('<{}') instead",
                                descr, name));
      }
    }
    fail(path_, fmt::format("the dtype '{}' is not supported; save x.astype('float32') or "
                            "another of b1, i1 to i8, u1 to u8, f2, f4 and f8",
                            descr));
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
};

// Checks the version of the file, and returns the text of its header.
std::string header_text(FILE* file, const std::string& path) {
  char start[8];
  read_exactly(file, path, start, sizeof start);
  if (std::string_view(start, kMagic.size()) != kMagic) {
    fail(
        path,
        "is not a .npy file; save one with numpy.save() (a .npz file is an archive of .npy files)");
  }
  const int major = static_cast<unsigned char>(start[6]);
  const int minor = static_cast<unsigned char>(start[7]);
  if (major < 1 || major > 3 || minor != 0) {
    fail(path,
         fmt::format("has version {}.{} of the format, but only 1.0, 2.0 and 3.0 are supported",
                     major, minor));
  }
  unsigned char bytes[4] = {};
  read_exactly(file, path, bytes, major == 1 ? 2 : 4);
  const uint32_t size = static_cast<uint32_t>(bytes[0]) | static_cast<uint32_t>(bytes[1]) << 8 |
                        static_cast<uint32_t>(bytes[2]) << 16 |
                        static_cast<uint32_t>(bytes[3]) << 24;
  if (size > kMaxHeaderBytes) {
    fail(path, fmt::format("the header has {} bytes, but at most {} bytes are supported", size,
                           kMaxHeaderBytes));
  }
  std::string text(size, '\0');
  read_exactly(file, path, text.data(), size);
  return text;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
  const File file = open(path, "rb");
  const uint64_t whole = size_of_file(file.get(), path);
  const std::string header = header_text(file.get(), path);
  NpyArray array = HeaderReader(header, path).read();

  uint64_t bytes = TENON_DTYPE_SIZE(array.dtype);
  bool fits = true;
  for (const int64_t size : array.shape) {
    fits = fits && !__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes);
  }
  const uint64_t left = whole - static_cast<uint64_t>(std::ftell(file.get()));
  if (!fits || bytes != left) {
    fail(path, fmt::format(
                   "the header specifies {}[{}], which needs {} bytes, but the file has {}: it was "
                   "truncated, or is not a .npy file",
                   array.dtype.str(), fmt::join(array.shape, ","),
                   fits ? std::to_string(bytes) : "more than 2^64", left));
  }
  array.bytes.resize(bytes);
  read_exactly(file.get(), path, array.bytes.data(), array.bytes.size());
  return array;
}

void write_npy(const std::string& path, DType dtype, std::span<const int64_t> shape,
               std::string_view bytes) {
  std::string descr;
  for (const auto& [name, own] : kNames) {
    if (own == dtype) descr = fmt::format("{}{}", name[1] == '1' ? '|' : '<', name);
  }
  if (descr.empty()) {
    fail(path, fmt::format("NumPy has no {}; cast it to f32 first", dtype.str()));
  }
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   descr, fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
  // The header is padded so that the elements begin at a multiple of 64 bytes.
  constexpr size_t kBefore = 10;
  header.append(63 - (kBefore + header.size()) % 64, ' ');
  header += '\n';
  const char start[] = {1, 0, static_cast<char>(header.size() & 0xff),
                        static_cast<char>(header.size() >> 8)};

  tenon_files::AtomicFile file(path);
  for (const std::string_view part :
       {kMagic, std::string_view(start, sizeof start), std::string_view(header), bytes}) {
    file.write(part);
  }
  if (!file.finish()) {
    fail(path, fmt::format("cannot be written: {}", std::strerror(file.error())));
  }
}

}  // namespace tenon::command
