#include "core/io/folder_update.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/os_error.h"
#include "core/base/search.h"
#include "core/io/folder_lock.h"
#include "files/atomic_file.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

// Renames a file. Throws UNAVAILABLE on failure.
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
  fail(nowhere ? Code::kNotFound : Code::kUnavailable, "{}: the folder cannot be created: {}",
       {folder, error ? error.message() : "it is a file"});
}

FolderUpdate::~FolderUpdate() {
  if (is_done_) return;
  // The destructor allocates no memory, because it may run after an allocation has failed.
  for (const std::string& path : new_paths_) unlink(path.c_str());
  if (made_folder_) rmdir(folder_.c_str());
}

// Adds a new file and returns the temporary path to write it to.
std::string FolderUpdate::add(const std::string& name) {
  const std::string target = tenon_files::link_target((folder_ / name).string());
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(target, ignored);
  require_code(!fs::exists(status) || fs::is_regular_file(status), Code::kUnavailable,
               "{}: cannot be written: it is not a regular file", (folder_ / name).string());
  names_.push_back(name);
  targets_.push_back(target);
  new_paths_.push_back(tenon_files::unique_path(tenon_files::folder_of(target)));
  return new_paths_.back();
}

void FolderUpdate::write(const std::string& name, const std::string& bytes) {
  const std::string path = add(name);
  tenon_files::AtomicFile file(path);
  file.write(bytes);
  if (file.finish()) return;
  const int error = file.error();
  fail(code_of_errno(error), "{}: cannot be written: {}",
       {(folder_ / name).string(), std::strerror(error)});
}

// Marks a file for removal by finish().
void FolderUpdate::remove(const std::string& name) { removed_.push_back(name); }

void FolderUpdate::rename_to_old(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (!fs::exists(status) || fs::is_directory(status)) return;
  renamed_.push_back({path, path + kOldSuffix});
  try {
    move(path, renamed_.back().old);
  } catch (...) {
    renamed_.pop_back();
    throw;
  }
}

// Moves the new files to their final names and removes the files marked for removal.
void FolderUpdate::finish() {
  FolderLock::restore(folder_.string(), names_.empty() ? "" : names_.back());
  // Deletes .tenon-old files of an earlier save that was killed after its new files were complete.
  // A later restore() must not bring them back.
  for (const std::string& target : targets_) unlink((target + kOldSuffix).c_str());
  for (const std::string& name : removed_) unlink((folder_ / (name + kOldSuffix)).c_str());
  try {
    for (size_t i = names_.size(); i > 0; --i) {
      std::error_code ignored;  // Some file systems have no permissions to copy.
      const fs::file_status status = fs::status(targets_[i - 1], ignored);
      if (fs::is_regular_file(status)) {
        fs::permissions(new_paths_[i - 1], status.permissions(), ignored);
      }
      rename_to_old(targets_[i - 1]);
    }
    for (const std::string& name : removed_) {
      if (!contains(names_, name)) rename_to_old((folder_ / name).string());
    }
    for (size_t i = 0; i < names_.size(); ++i) {
      move(new_paths_[i], targets_[i]);
      ++n_in_place_;
    }
  } catch (...) {
    undo();
    throw;
  }
  is_done_ = true;
  tenon_files::synchronise_folder(folder_.string());
  for (const RenamedFile& file : renamed_) unlink(file.old.c_str());
}

// Undoes the renames of finish(), so that the folder is as before.
void FolderUpdate::undo() {
  for (; n_in_place_ > 0; --n_in_place_) {
    std::rename(targets_[n_in_place_ - 1].c_str(), new_paths_[n_in_place_ - 1].c_str());
  }
  for (; !renamed_.empty(); renamed_.pop_back()) {
    std::rename(renamed_.back().old.c_str(), renamed_.back().path.c_str());
  }
}

}  // namespace tenon
