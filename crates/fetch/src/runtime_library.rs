//! Fetches the library of ONNX Runtime out of a wheel.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use memod_base::paths::IoContext as _;
use memod_embed::onnx::{LIBRARY, Runtime};
use zip::ZipArchive;

use super::checksum::Checksum;
use super::http::{Http, HttpError};
use super::package_index::{ACCEPT, Platform, Wheel, newest};
use super::transfer::{Transfer, TransferError};
use super::web_address::{WebAddress, join, shown};
use super::{FetchError, Listener, downloads};

/// Largest page of a package index, bytes; that of onnxruntime has half a megabyte.
const MOST_PAGE: u64 = 64 << 20;

/// Largest wheel and library, bytes.
const MOST_WHEEL: u64 = 1 << 30;

/// Downloads the library into the cache directory, unless it is there; returns its path.
///
/// # Errors
/// When another one is named but absent, or there is none to be had.
pub(super) fn fetch(
    runtime: &Runtime,
    index: &str,
    patience: std::time::Duration,
    listener: &mut Listener<'_>,
) -> Result<PathBuf, FetchError> {
    if runtime.is_named() {
        return Ok(runtime.find()?); // what the user names is not replaced
    }
    if let Ok(library) = runtime.find() {
        return Ok(library);
    }
    let dir = downloads(&runtime.cache_dir)?;
    let _lock = listener.lock(&dir.join("onnxruntime.lock"), "ONNX Runtime")?;
    if let Ok(library) = runtime.find() {
        return Ok(library); // somebody else has fetched it meanwhile
    }
    let platform = Platform::own().ok_or(FetchError::NoPlatform)?;
    let index = WebAddress::new(index);
    let http = Http::new(patience).with_credentials_of(&index);
    let wheel = choose(&http, &index.url, platform)?;
    listener.note(&format!(
        "downloading ONNX Runtime {}, {}, from {}",
        wheel.version,
        size(wheel.bytes),
        shown(&wheel.url)
    ))?;
    let path = dir.join(format!("onnxruntime-{}.whl", wheel.version));
    let transfer = Transfer {
        http: &http,
        url: &wheel.url,
        to: &path,
        checksum: wheel.sha256.clone().map(Checksum::Sha256),
        most_bytes: MOST_WHEEL,
        progress: &mut |done, total| listener.progress("onnxruntime", done, total),
    };
    let transferred = transfer.run().map_err(FetchError::index)?;
    if !transferred.is_checked {
        listener.note("the index tells no SHA-256, so the wheel is not compared with one")?;
    }
    let library = unpack(&path, &runtime.own_dir());
    fs::remove_file(&path).at("remove", &path)?; // one that is damaged is of no use either
    library
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or("a wheel".to_owned(), |bytes| format!("{:.1} MB", bytes as f64 / 1e6))
}

fn choose(http: &Http, index: &str, platform: Platform) -> Result<Wheel, FetchError> {
    let url = join(&format!("{}/", index.trim_end_matches('/')), "onnxruntime/");
    let failed = |error: HttpError| FetchError::index(TransferError::http(&url, error));
    let answer = http.get(&url, &[("accept", ACCEPT.to_owned())]).map_err(failed)?;
    let page = io::read_to_string(io::Read::take(answer.body, MOST_PAGE));
    let page = page.map_err(|error| failed(HttpError::lasting(error.to_string())))?;
    let wheel = newest(&page, &answer.url, platform).map_err(|why| failed(HttpError::lasting(why)))?;
    wheel.ok_or_else(|| failed(HttpError::lasting("has no wheel of 1.24 or later for this platform")))
}

/// Unpacks the library alone, and puts it into a directory when it is complete.
fn unpack(wheel: &Path, to: &Path) -> Result<PathBuf, FetchError> {
    let bad = |reason: String| FetchError::BadWheel { path: wheel.to_owned(), reason };
    let file = File::open(wheel).at("open", wheel)?;
    let mut archive = ZipArchive::new(file).map_err(|error| bad(error.to_string()))?;
    let name = archive.file_names().filter(|name| is_library(name)).min().map(str::to_owned);
    let name = name.ok_or_else(|| bad(format!("has no {LIBRARY}")))?;
    let packed = archive.by_name(&name).map_err(|error| bad(error.to_string()))?;
    let mut packed = io::Read::take(packed, MOST_WHEEL + 1); // what the archive says of its size may be wrong
    fs::create_dir_all(to).at("create directory", to)?;
    let part = to.join(format!(".part-{}", std::process::id()));
    let library = to.join(LIBRARY);
    let unpacked = File::create(&part)
        .and_then(|mut file| Ok((io::copy(&mut packed, &mut file)?, file.sync_all()?)))
        .and_then(|(bytes, ())| match bytes > MOST_WHEEL {
            true => Err(io::Error::other(format!("{name} has more than {MOST_WHEEL} bytes"))),
            false => fs::rename(&part, &library),
        });
    if unpacked.is_err() {
        let _ = fs::remove_file(&part); // what failed is told
    }
    unpacked.at("unpack the wheel to", &library)?;
    Ok(library)
}

/// Returns whether a file of the wheel is the library; the name has a version on most platforms.
fn is_library(name: &str) -> bool {
    let Some(name) = name.strip_prefix("onnxruntime/capi/") else { return false };
    let (stem, extension) = LIBRARY.rsplit_once('.').expect("the name has an extension");
    name == LIBRARY
        || name.strip_prefix(LIBRARY).is_some_and(|rest| rest.starts_with('.'))
        || name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_told_from_its_neighbours() {
        let names = ["onnxruntime/capi/libonnxruntime.so.1.32.0", "onnxruntime/capi/libonnxruntime.so"];
        assert!(cfg!(not(target_os = "linux")) || names.iter().all(|name| is_library(name)));
        for other in [
            "onnxruntime/capi/libonnxruntime_providers_shared.so",
            "onnxruntime/capi/onnxruntime_pybind11_state.so",
            "elsewhere/libonnxruntime.so",
        ] {
            assert!(!is_library(other), "{other}");
        }
    }
}
