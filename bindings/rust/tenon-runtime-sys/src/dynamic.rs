//! Loads libtenon at run time and holds the table of its functions.

use std::env;
use std::ffi::{CStr, CString, OsString};
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::Mutex;

use crate::bindings_gen::Table;

static TABLE: AtomicPtr<Table> = AtomicPtr::new(ptr::null_mut());
static LOADING: Mutex<()> = Mutex::new(());

const RTLD_NOW: c_int = 2;

#[link(name = "dl")]
extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn dlclose(library: *mut c_void) -> c_int;
}

#[inline]
pub(crate) fn table() -> &'static Table {
    let table = TABLE.load(Ordering::Acquire);
    if table.is_null() {
        return first_use();
    }
    // SAFETY: a stored table is never freed.
    unsafe { &*table }
}

#[cold]
fn first_use() -> &'static Table {
    if let Err(reason) = load(None) {
        panic!("{reason}");
    }
    table()
}

pub(crate) fn load(path: Option<&Path>) -> Result<(), String> {
    let _one = LOADING.lock().unwrap_or_else(|broken| broken.into_inner());
    if !TABLE.load(Ordering::Acquire).is_null() {
        return Ok(());
    }
    let candidates = path.map_or_else(default_paths, |path| vec![path.to_owned()]);
    let mut reasons = Vec::new();
    for candidate in &candidates {
        match load_file(candidate) {
            Ok(table) => {
                TABLE.store(Box::into_raw(Box::new(table)), Ordering::Release);
                return Ok(());
            }
            Err(reason) => reasons.push(reason),
        }
    }
    Err(format!("libtenon cannot be loaded: {}", reasons.join("; ")))
}

fn default_paths() -> Vec<PathBuf> {
    if let Some(file) = env::var_os("TENON_LIBRARY") {
        return vec![file.into()];
    }
    let mut paths = Vec::new();
    if let Some(folder) = env::var_os("TENON_DIR") {
        let folder = PathBuf::from(folder);
        paths.push(folder.join("lib").join("libtenon.so"));
        paths.push(folder.join("libtenon.so"));
    }
    paths.push(OsString::from("libtenon.so.0").into());
    paths.push(OsString::from("libtenon.so").into());
    paths
}

fn load_file(path: &Path) -> Result<Table, String> {
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| format!("{}: a path must not contain a zero byte", path.display()))?;
    // SAFETY: `name` ends with a zero byte, and libtenon's constructors have no preconditions.
    let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
    if library.is_null() {
        // SAFETY: dlerror returns NULL or a string that is valid until the next call on this
        // thread.
        let reason = unsafe {
            let text = dlerror();
            if text.is_null() {
                path.display().to_string()
            } else {
                CStr::from_ptr(text).to_string_lossy().into_owned()
            }
        };
        return Err(reason);
    }
    // SAFETY: names end with a zero byte, and the declarations agree with libtenon's headers.
    unsafe { Table::fill(|name| dlsym(library, name.as_ptr().cast())) }.map_err(|missing| {
        // SAFETY: no function of the library is in use.
        unsafe { dlclose(library) };
        format!("{}: the library does not export {missing}", path.display())
    })
}
