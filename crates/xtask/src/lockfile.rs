//! Reads versions from Cargo.lock.

use std::fs;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::project;

/// The version of `package` in the workspace's Cargo.lock.
pub(crate) fn locked_version(package: &str) -> Result<String> {
    let path = project::root().join("Cargo.lock");
    let text = fs::read_to_string(&path).with_context(|| format!("{} could not be read.", path.display()))?;
    version_in_lock(&text, package)
}

fn version_in_lock(lock: &str, package: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let lock: Lock = toml::from_str(lock).context("Cargo.lock is not as cargo writes it.")?;
    let mut versions: Vec<_> = lock.package.into_iter().filter(|p| p.name == package).map(|p| p.version).collect();
    match (versions.pop(), versions.len()) {
        (Some(version), 0) => Ok(version),
        (None, _) => bail!("Cargo.lock names no {package}: add it to the dependencies of `web`."),
        (Some(last), _) => bail!(
            "Cargo.lock names {package} more than once ({}, {last}), but only one version can be served: \
             `cargo tree --invert {package}` shows who wants which.",
            versions.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = r#"
        version = 4
        [[package]]
        name = "wasm-bindgen"
        version = "0.2.108"
        [[package]]
        name = "wasm-bindgen-futures"
        version = "0.4.58"
        [[package]]
        name = "http"
        version = "0.2.0"
        [[package]]
        name = "http"
        version = "1.0.0"
    "#;

    #[test]
    fn the_version_is_read_from_the_lock_file() {
        assert_eq!(version_in_lock(LOCK, "wasm-bindgen").expect("is named once"), "0.2.108");
    }

    #[test]
    fn a_package_in_two_versions_is_an_error_that_names_both() {
        let message = version_in_lock(LOCK, "http").expect_err("two versions").to_string();
        assert!(message.contains("0.2.0") && message.contains("1.0.0"), "{message}");
    }

    #[test]
    fn a_missing_package_is_an_error() {
        assert!(version_in_lock(LOCK, "serde").is_err());
    }

    #[test]
    fn the_own_lock_file_names_one_wasm_bindgen() {
        assert!(locked_version("wasm-bindgen").is_ok());
    }
}
