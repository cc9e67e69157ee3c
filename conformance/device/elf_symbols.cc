#include "conformance/device/elf_symbols.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "conformance/device/drive.h"

namespace tenon_kit::device {
namespace {

class File {
 public:
  explicit File(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
    require(!bytes_.empty(), "cannot read {}", path);
  }

  template <class T>
  T at(uint64_t offset) const {
    require(offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset,
            "the plugin file's section headers are outside the file");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::string text(uint64_t offset) const {
    require(offset < bytes_.size(), "the plugin file's symbol names are outside the file");
    return std::string(bytes_.data() + offset,
                       strnlen(bytes_.data() + offset, bytes_.size() - offset));
  }

 private:
  std::vector<char> bytes_;
};

// Whether the linker, not the plugin, defines the symbol.
bool is_defined_by_linker(const std::string& name) {
  for (const char* own : {"_init", "_fini", "_edata", "_end", "__bss_start"}) {
    if (name == own) return true;
  }
  return false;
}

}  // namespace

Symbols read_symbols(const std::string& path) {
  const File file(path);
  const auto head = file.at<Elf64_Ehdr>(0);
  const unsigned char native =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != native) {
    throw Unsupported(
        "the plugin is not a 64-bit ELF file; the kit reads symbols only of such files");
  }
  Symbols symbols;
  for (size_t i = 0; i < head.e_shnum; ++i) {
    const auto section = file.at<Elf64_Shdr>(head.e_shoff + i * head.e_shentsize);
    if (section.sh_type != SHT_DYNSYM) continue;
    const auto names = file.at<Elf64_Shdr>(head.e_shoff + section.sh_link * head.e_shentsize);
    for (uint64_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = file.at<Elf64_Sym>(section.sh_offset + at);
      const std::string name = file.text(names.sh_offset + symbol.st_name);
      if (name.empty() || is_defined_by_linker(name)) continue;
      if (symbol.st_shndx == SHN_UNDEF) {
        symbols.imported.push_back(name);
      } else if (symbol.st_shndx != SHN_ABS && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL &&
                 ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT) {
        symbols.exported.push_back(name);
      }
    }
  }
  return symbols;
}

}  // namespace tenon_kit::device
