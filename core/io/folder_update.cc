#include "core/io/folder_update.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "core/base/error.h"
#include "core/base/search.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr const char *kNew = ".tenon-new", *kOld = ".tenon-old";

void move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  require_code(!error, Code::kUnavailable, "{}: cannot be renamed to {}: {}", from.string(),
               to.filename().string(), error.message());
}

}  // namespace

FolderUpdate::FolderUpdate(const std::string& folder) : folder_(folder) {
  std::error_code error;
  made_folder_ = fs::create_directory(folder_, error);
  if (!error && fs::is_directory(folder_)) return;
  const bool nowhere = error == std::errc::no_such_file_or_directory;
  fail(nowhere ? Code::kNotFound : Code::kUnavailable, "{}: cannot be made a folder: {}",
       {folder, error ? error.message() : "it is a file"});
}

FolderUpdate::~FolderUpdate() {
  if (is_done_) return;
  std::error_code ignored;
  for (const std::string& name : names_) fs::remove(beside(name, kNew), ignored);
  if (made_folder_) fs::remove(folder_, ignored);
}

std::string FolderUpdate::add(const std::string& name) {
  names_.push_back(name);
  return beside(name, kNew).string();
}

void FolderUpdate::write(const std::string& name, const std::string& bytes) {
  const std::string path = beside(name, kNew).string();
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file) add(name);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  require_code(bool(file), Code::kUnavailable, "{}: cannot be written: {}", path,
               std::strerror(errno));
}

void FolderUpdate::remove(const std::string& name) { removed_.push_back(name); }

void FolderUpdate::step_aside(const std::string& name) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(folder_ / name, ignored);
  if (!fs::exists(status) || fs::is_directory(status)) return;
  move(folder_ / name, beside(name, kOld));
  aside_.push_back(name);
}

void FolderUpdate::finish() {
  try {
    for (size_t i = names_.size(); i > 0; --i) step_aside(names_[i - 1]);
    for (const std::string& name : removed_) {
      if (!contains(names_, name)) step_aside(name);
    }
    for (const std::string& name : names_) {
      move(beside(name, kNew), folder_ / name);
      in_place_.push_back(name);
    }
  } catch (...) {
    undo();
    throw;
  }
  is_done_ = true;
  std::error_code ignored;
  for (const auto* names : {&names_, &removed_}) {
    for (const std::string& name : *names) fs::remove(beside(name, kOld), ignored);
  }
}

void FolderUpdate::undo() {
  std::error_code ignored;
  for (; !in_place_.empty(); in_place_.pop_back()) {
    fs::rename(folder_ / in_place_.back(), beside(in_place_.back(), kNew), ignored);
  }
  for (; !aside_.empty(); aside_.pop_back()) {
    fs::rename(beside(aside_.back(), kOld), folder_ / aside_.back(), ignored);
  }
}

}  // namespace tenon
