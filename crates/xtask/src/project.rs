//! Where things lie: the repository, its dist/, cargo's build folder, the cache of installed tools.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The repository's root, also where the command was given in one of its folders.
pub(crate) fn root() -> PathBuf {
    let package = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    package.ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf()
}

/// The finished page.
pub(crate) fn dist() -> PathBuf {
    root().join("dist")
}

/// Cargo's build folder.
pub(crate) fn target() -> PathBuf {
    root().join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Holds a folder for each installed tool and version; `HELT_TOOLS` moves it.
pub(crate) fn tools_cache() -> Result<PathBuf> {
    if let Some(folder) = env::var_os("HELT_TOOLS") {
        return std::path::absolute(&folder).with_context(|| format!("HELT_TOOLS is `{}`, which is not a folder.", folder.display()));
    }
    let cache = dirs::cache_dir().context("This system names no cache folder for tools: set HELT_TOOLS to a folder of your choice.")?;
    Ok(cache.join("helt-playground"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        assert!(root().join("Cargo.lock").is_file());
    }
}
