#include "core/device/elf_check.h"

#if defined(__linux__)

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/os_error.h"

namespace tenon {
namespace {

constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr unsigned char kData = ELFDATA2LSB;
#else
constexpr unsigned char kData = ELFDATA2MSB;
#endif
#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#elif defined(__i386__)
constexpr int kMachine = EM_386;
#elif defined(__arm__)
constexpr int kMachine = EM_ARM;
#elif defined(__riscv)
constexpr int kMachine = EM_RISCV;
#else
// Unknown architecture: leaves the check of the machine type to the loader.
constexpr int kMachine = -1;
#endif

const char* machine_name(int machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "arm64";
    case EM_386:
      return "x86";
    case EM_ARM:
      return "arm";
    case EM_RISCV:
      return "riscv";
    default:
      return "another machine";
  }
}

class File {
 public:
  // O_NONBLOCK: opening a named pipe in place of a plugin file does not hang.
  explicit File(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }
  bool status(struct stat& out) const { return fstat(fd_, &out) == 0; }

  bool read(void* to, uint64_t size, uint64_t offset) const {
    auto* at = static_cast<char*>(to);
    while (size > 0) {
      const ssize_t n = pread(fd_, at, size, static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      at += n;
      offset += static_cast<uint64_t>(n);
      size -= static_cast<uint64_t>(n);
    }
    return true;
  }

 private:
  int fd_;
};

// Returns the verdict for a file that is not a shared object.
FileVerdict not_a_library(std::string_view what) {
  return {Code::kInvalidArgument, "is not a shared object: " + std::string(what)};
}

// Returns the verdict for a truncated file: its segment or section (`what`) number `index` ends at
// byte `end`, but the file has only `size` bytes.
FileVerdict truncated(const char* what, size_t index, uint64_t end, uint64_t size) {
  return {Code::kDataLoss,
          format("is truncated: {} {} ends at byte {} of {}", {what, index, end, size})};
}

// Returns offset + size, or UINT64_MAX if the sum overflows.
uint64_t end_offset(uint64_t offset, uint64_t size) {
  return size > UINT64_MAX - offset ? UINT64_MAX : offset + size;
}

FileVerdict check_header(const ElfW(Ehdr) & header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return not_a_library("no ELF header");
  if (header.e_ident[EI_CLASS] != kClass || header.e_ident[EI_DATA] != kData) {
    return {Code::kInvalidArgument, "is for another machine: its word size or byte order differs"};
  }
  if (kMachine >= 0 && header.e_machine != kMachine) {
    return {Code::kInvalidArgument,
            format("is built for {}, but this machine is {}",
                   {machine_name(header.e_machine), machine_name(kMachine)})};
  }
  if (header.e_type != ET_DYN) return not_a_library("the ELF type is not ET_DYN");
  if (header.e_version != EV_CURRENT || header.e_ehsize < sizeof(ElfW(Ehdr)) ||
      header.e_phentsize != sizeof(ElfW(Phdr)) || header.e_phnum == 0) {
    return not_a_library("the ELF header is inconsistent");
  }
  return {};
}

FileVerdict check_segments(const File& file, const ElfW(Ehdr) & header, uint64_t size) {
  const uint64_t end = end_offset(header.e_phoff, header.e_phnum * sizeof(ElfW(Phdr)));
  if (end > size) return truncated("the table of segments, entry", header.e_phnum, end, size);
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  if (!file.read(segments.data(), header.e_phnum * sizeof(ElfW(Phdr)), header.e_phoff)) {
    return {Code::kUnavailable, "cannot be read"};
  }
  bool has_dynamic = false;
  bool has_load = false;
  for (size_t i = 0; i < segments.size(); ++i) {
    const ElfW(Phdr)& segment = segments[i];
    if (end_offset(segment.p_offset, segment.p_filesz) > size) {
      return truncated("segment", i, end_offset(segment.p_offset, segment.p_filesz), size);
    }
    has_dynamic = has_dynamic || segment.p_type == PT_DYNAMIC;
    if (segment.p_type != PT_LOAD) continue;
    has_load = true;
    if (segment.p_filesz > segment.p_memsz) {
      return not_a_library("a segment is larger in the file than in memory");
    }
  }
  return has_dynamic && has_load ? FileVerdict{}
                                 : not_a_library("it has no loadable or no dynamic segment");
}

// Checks that the section headers are inside the file. The loader does not need them, but linkers
// write them at the end of the file, so that a truncated file lacks them.
FileVerdict check_sections(const File& file, const ElfW(Ehdr) & header, uint64_t size) {
  if (header.e_shoff == 0 || header.e_shnum == 0) return {};
  if (header.e_shentsize != sizeof(ElfW(Shdr))) {
    return not_a_library("the ELF header is inconsistent");
  }
  const uint64_t end = end_offset(header.e_shoff, header.e_shnum * sizeof(ElfW(Shdr)));
  if (end > size) return truncated("the table of sections, entry", header.e_shnum, end, size);
  std::vector<ElfW(Shdr)> sections(header.e_shnum);
  if (!file.read(sections.data(), header.e_shnum * sizeof(ElfW(Shdr)), header.e_shoff)) {
    return {Code::kUnavailable, "cannot be read"};
  }
  for (size_t i = 0; i < sections.size(); ++i) {
    if (sections[i].sh_type == SHT_NOBITS || sections[i].sh_type == SHT_NULL) continue;
    const uint64_t section_end = end_offset(sections[i].sh_offset, sections[i].sh_size);
    if (section_end > size) return truncated("section", i, section_end, size);
  }
  return {};
}

}  // namespace

FileVerdict check_shared_object(const std::string& path) {
  const File file(path);
  struct stat status;
  if (!file.is_open() || !file.status(status)) {
    const int error = errno;
    return {code_of_errno(error), format("cannot be opened: {}", {std::strerror(error)})};
  }
  if (!S_ISREG(status.st_mode)) return not_a_library("not a regular file");

  const auto size = static_cast<uint64_t>(status.st_size);
  ElfW(Ehdr) header;
  if (size < sizeof header) {
    return not_a_library(format("the file has {} bytes, fewer than an ELF header", {size}));
  }
  if (!file.read(&header, sizeof header, 0)) return {Code::kUnavailable, "cannot be read"};
  FileVerdict verdict = check_header(header);
  if (verdict.code == Code::kOk) verdict = check_segments(file, header, size);
  if (verdict.code == Code::kOk) verdict = check_sections(file, header, size);
  return verdict;
}

}  // namespace tenon

#else

namespace tenon {

// Systems without ELF: the loader checks the file itself.
FileVerdict check_shared_object(const std::string&) { return {}; }

}  // namespace tenon

#endif
