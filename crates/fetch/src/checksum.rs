//! Compares a file with the checksum that a server gave.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// Number of bytes that are read at a time.
const BLOCK_BYTES: usize = 1 << 18;

/// The digest that a server gave for the content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Checksum {
    /// SHA-256 of the content, for large files of hubs and for wheels.
    Sha256(String),
    /// SHA-1 of the content or of the git blob with this content, for small files of hubs.
    Sha1(String),
}

impl Checksum {
    /// Returns the checksum that an entity tag contains; `None` for other tags.
    pub(super) fn from_etag(etag: &str) -> Option<Self> {
        let hex = etag.trim_start_matches("W/").trim_matches('"').to_ascii_lowercase();
        if !hex.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        match hex.len() {
            64 => Some(Self::Sha256(hex)),
            40 => Some(Self::Sha1(hex)),
            _ => None,
        }
    }

    /// Compares a file with the checksum; returns a description of the difference, `None` if they match.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(super) fn find_difference(&self, path: &Path) -> io::Result<Option<String>> {
        let mut file = File::open(path)?;
        match self {
            Self::Sha256(wanted) => {
                let [found] = hash_file(&mut file, [Sha256::new()])?;
                Ok((found != *wanted).then(|| format!("SHA-256 {found} instead of {wanted}")))
            }
            Self::Sha1(wanted) => {
                let blob = Sha1::new_with_prefix(format!("blob {}\0", file.metadata()?.len()));
                let found = hash_file(&mut file, [blob, Sha1::new()])?;
                Ok((!found.contains(wanted)).then(|| format!("git object {} instead of {wanted}", found[0])))
            }
        }
    }
}

/// Reads a file once, and returns its digests in hexadecimal.
fn hash_file<D: sha2::Digest, const N: usize>(
    file: &mut File,
    mut digests: [D; N],
) -> io::Result<[String; N]> {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            return Ok(digests.map(|digest| to_hex(&digest.finalize())));
        }
        digests.iter_mut().for_each(|digest| digest.update(&block[..read]));
    }
}

fn to_hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_tags_of_a_hub_are_checksums() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hello");
        std::fs::write(&path, "hello\n").unwrap();
        for etag in [
            "\"5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03\"", // sha256sum
            "W/\"ce013625030ba8dba906f756967f9e9ca394464a\"",                       // git hash-object
            "\"f572d396fae9206628714fb2ce00f72e94f2258f\"",                         // sha1sum
        ] {
            assert_eq!(Checksum::from_etag(etag).unwrap().find_difference(&path).unwrap(), None, "{etag}");
        }
        let other = Checksum::from_etag(&"0".repeat(40)).unwrap().find_difference(&path).unwrap().unwrap();
        assert!(other.starts_with("git object ce013625"), "{other}");
        let other = Checksum::from_etag(&"0".repeat(64)).unwrap().find_difference(&path).unwrap().unwrap();
        assert!(other.starts_with("SHA-256 5891b5b5"), "{other}");
        assert_eq!(
            (Checksum::from_etag("\"5d41402abc4b2a76b9719d911017c592-3\""), Checksum::from_etag("")),
            (None, None)
        );
    }
}
