//! Passes the location of libtenon to the linker: `TENON_DIR`, then pkg-config, then the linker's
//! search path. Downloads nothing. Succeeds without the library, because documentation builds do
//! not need it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=TENON_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if env::var_os("CARGO_FEATURE_DYNAMIC").is_some() {
        return;
    }
    if let Some(folder) = from_variable().or_else(from_pkg_config) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:libdir={}", folder.display());
    }
    println!("cargo:rustc-link-lib=dylib=tenon");
}

fn from_variable() -> Option<PathBuf> {
    let folder = PathBuf::from(env::var_os("TENON_DIR")?);
    let found = [folder.join("lib"), folder.clone()]
        .into_iter()
        .find(|candidate| has_library(candidate));
    if found.is_none() {
        println!(
            "cargo:warning=TENON_DIR is {}, which holds no libtenon, nor does its folder lib",
            folder.display()
        );
    }
    found
}

fn from_pkg_config() -> Option<PathBuf> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let output = Command::new(program)
        .args(["--variable=libdir", "tenon"])
        .output()
        .ok()?;
    let folder = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    has_library(&folder).then_some(folder)
}

fn has_library(folder: &Path) -> bool {
    ["libtenon.so", "libtenon.dylib", "tenon.lib", "libtenon.a"]
        .iter()
        .any(|name| folder.join(name).exists())
}
