//! Downloads a wheel of ONNX Runtime, and unpacks the library from it.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use memod_base::paths::IoContext as _;
use memod_embed::onnx::{LIBRARY, RuntimeLocations};
use zip::ZipArchive;

use super::checksum::Checksum;
use super::http::{HttpClient, HttpError};
use super::package_index::{ACCEPT_HEADER, Wheel, WheelPlatform, find_newest_wheel};
use super::transfer::{Transfer, TransferError};
use super::web_address::{WebAddress, redact_url, resolve_link};
use super::{FetchError, Listener, create_downloads_dir};

/// Size of the largest page of a package index, bytes. The page of onnxruntime has half a megabyte.
const MAX_PAGE_BYTES: u64 = 64 << 20;

/// Size of the largest wheel, and of the largest library, bytes.
const MAX_WHEEL_BYTES: u64 = 1 << 30;

/// Downloads the library into the cache directory unless it exists, and returns its path.
///
/// # Errors
/// When the settings name a library that does not exist, or the library cannot be downloaded.
pub(super) fn fetch_library(
    runtime: &RuntimeLocations,
    index: &str,
    patience: std::time::Duration,
    listener: &mut Listener<'_>,
) -> Result<PathBuf, FetchError> {
    if runtime.is_configured() {
        return Ok(runtime.find_library()?); // a library that the settings name is never replaced
    }
    if let Ok(library) = runtime.find_library() {
        return Ok(library);
    }
    let dir = create_downloads_dir(&runtime.cache_dir)?;
    let _lock = listener.lock_download(&dir.join("onnxruntime.lock"), "ONNX Runtime")?;
    if let Ok(library) = runtime.find_library() {
        return Ok(library); // another process has downloaded it meanwhile
    }
    let platform = WheelPlatform::current().ok_or(FetchError::NoPlatform)?;
    let index = WebAddress::new(index);
    let http = HttpClient::new(patience).with_credentials_of(&index);
    let wheel = choose_wheel(&http, &index.url, platform)?;
    listener.report_note(&format!(
        "downloading ONNX Runtime {}, {}, from {}",
        wheel.version,
        render_size(wheel.bytes),
        redact_url(&wheel.url)
    ))?;
    let path = dir.join(format!("onnxruntime-{}.whl", wheel.version));
    let transfer = Transfer {
        http: &http,
        url: &wheel.url,
        target_path: &path,
        checksum: wheel.sha256.clone().map(Checksum::Sha256),
        max_bytes: MAX_WHEEL_BYTES,
        progress: &mut |done, total| listener.report_progress("onnxruntime", done, total),
    };
    let transferred = transfer.download_file().map_err(FetchError::package_index_error)?;
    if !transferred.is_verified {
        listener.report_note("the index gives no SHA-256 of the wheel, so the download is not verified")?;
    }
    let library = unpack_library(&path, &runtime.fetched_library_dir());
    fs::remove_file(&path).at("remove", &path)?; // also after a failure, because a damaged wheel is useless
    library
}

/// Formats the size of a wheel for display.
fn render_size(bytes: Option<u64>) -> String {
    bytes.map_or("a wheel".to_owned(), |bytes| format!("{:.1} MB", bytes as f64 / 1e6))
}

/// Reads the page of onnxruntime in a package index, and returns the wheel to download.
fn choose_wheel(http: &HttpClient, index: &str, platform: WheelPlatform) -> Result<Wheel, FetchError> {
    let url = resolve_link(&format!("{}/", index.trim_end_matches('/')), "onnxruntime/");
    let answer = http
        .get(&url, &[("accept", ACCEPT_HEADER.to_owned())])
        .map_err(|error| package_index_page_error(&url, error))?;
    let page = io::read_to_string(io::Read::take(answer.body, MAX_PAGE_BYTES));
    let page =
        page.map_err(|error| package_index_page_error(&url, HttpError::permanent(error.to_string())))?;
    let wheel = find_newest_wheel(&page, &answer.url, platform)
        .map_err(|why| package_index_page_error(&url, HttpError::permanent(why)))?;
    wheel.ok_or_else(|| {
        package_index_page_error(
            &url,
            HttpError::permanent("has no wheel of 1.24 or later for this platform"),
        )
    })
}

/// Returns the error for a page of the index that cannot be used.
fn package_index_page_error(url: &str, error: HttpError) -> FetchError {
    FetchError::package_index_error(TransferError::for_url(url, error))
}

/// Unpacks only the library from a wheel into the directory `to`, and returns its path. The library gets its name once it is
/// complete.
fn unpack_library(wheel: &Path, to: &Path) -> Result<PathBuf, FetchError> {
    let file = File::open(wheel).at("open", wheel)?;
    let mut archive = ZipArchive::new(file).map_err(|error| bad_wheel_error(wheel, error.to_string()))?;
    let name = archive.file_names().filter(|name| is_library(name)).min().map(str::to_owned);
    let name = name.ok_or_else(|| bad_wheel_error(wheel, format!("has no {LIBRARY}")))?;
    let packed = archive.by_name(&name).map_err(|error| bad_wheel_error(wheel, error.to_string()))?;
    let mut packed = io::Read::take(packed, MAX_WHEEL_BYTES + 1); // the size in the archive may be wrong
    fs::create_dir_all(to).at("create directory", to)?;
    let part = to.join(format!(".part-{}", std::process::id()));
    let library = to.join(LIBRARY);
    let unpacked = File::create(&part)
        .and_then(|mut file| Ok((io::copy(&mut packed, &mut file)?, file.sync_all()?)))
        .and_then(|(bytes, ())| match bytes > MAX_WHEEL_BYTES {
            true => Err(io::Error::other(format!("{name} has more than {MAX_WHEEL_BYTES} bytes"))),
            false => fs::rename(&part, &library),
        });
    if unpacked.is_err() {
        let _ = fs::remove_file(&part); // the failure itself is returned
    }
    unpacked.at("unpack the wheel to", &library)?;
    Ok(library)
}

/// Returns the error for a wheel that cannot be unpacked.
fn bad_wheel_error(wheel: &Path, reason: String) -> FetchError {
    FetchError::BadWheel { path: wheel.to_owned(), reason }
}

/// Returns whether a file of the wheel is the library, whose name has a version on most platforms.
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
