//! Detects file systems that are mounted or unmounted.
//!
//! A mount over a directory replaces everything below it, which no watch reports. The kernel marks its table of mounts as
//! changed, which takes one system call to check.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The mounts that this process sees.
pub struct MountTable {
    /// `None` without `/proc`, where mounts go unnoticed.
    table: Option<File>,
    /// Id and mount point of each mount.
    known: HashSet<(Vec<u8>, PathBuf)>,
}

impl MountTable {
    /// Returns a table of the present mounts.
    pub fn read() -> Self {
        let mut mounts = Self { table: File::open("/proc/self/mountinfo").ok(), known: HashSet::new() };
        mounts.known = mounts.read_table();
        mounts
    }

    /// Returns the mount points that were added or removed since the last call.
    pub fn take_changed_mount_points(&mut self) -> Vec<PathBuf> {
        let Some(table) = &self.table else { return Vec::new() };
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut [PollFd::new(table, PollFlags::PRI)], Some(&at_once)) == Ok(0) {
            return Vec::new();
        }
        let now = self.read_table();
        let changed = now.symmetric_difference(&self.known).map(|(_, place)| place.clone()).collect();
        self.known = now;
        changed
    }

    /// Returns the mount point of a path, found by its name alone.
    pub fn mount_point_of<'a>(&'a self, path: &Path) -> Option<&'a Path> {
        let places = self.known.iter().map(|(_, place)| place.as_path());
        places.filter(|place| path.starts_with(place)).max_by_key(|place| place.as_os_str().len())
    }

    /// Returns the mount points below a directory.
    pub fn mount_points_below<'a>(&'a self, dir: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.known.iter().map(|(_, place)| place.as_path()).filter(move |place| place.starts_with(dir))
    }

    fn read_table(&mut self) -> HashSet<(Vec<u8>, PathBuf)> {
        let mut text = Vec::new();
        if let Some(table) = &mut self.table {
            // An unreadable table counts as empty, so that the mounts are new once it is readable again.
            let _ = table.rewind().and_then(|()| table.read_to_end(&mut text));
        }
        text.split(|byte| *byte == b'\n').filter_map(parse_mount).collect()
    }
}

/// Returns id and mount point of one line, whose fields are in proc_pid_mountinfo(5).
fn parse_mount(line: &[u8]) -> Option<(Vec<u8>, PathBuf)> {
    let mut fields = line.split(|byte| *byte == b' ');
    Some((fields.next()?.to_vec(), OsString::from_vec(unescape_octal(fields.nth(3)?)).into()))
}

/// Unescapes the octal codes for space, tab, newline and backslash.
fn unescape_octal(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code =
            after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = code.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        plain.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_table() {
        let check = |line: &str, expected: Option<(&str, &str)>| {
            let expected = expected.map(|(id, place)| (id.as_bytes().to_vec(), PathBuf::from(place)));
            assert_eq!(parse_mount(line.as_bytes()), expected, "{line}");
        };
        check("36 35 98:0 / /mnt rw,noatime - ext3 /dev/root rw", Some(("36", "/mnt")));
        check("7 1 0:5 / /a\\040b\\134\\012c rw - tmpfs t rw", Some(("7", "/a b\\\nc")));
        check("7 1 0:5 / /odd\\9 rw", Some(("7", "/odd\\9")));
        check("", None);
    }

    #[test]
    fn without_a_change_nothing_has_changed() {
        let mut mounts = MountTable::read();
        assert!(!mounts.known.is_empty());
        // In a chroot that is no mount point, `/` has none.
        let of_root = mounts.mount_point_of(Path::new("/")).map(Path::to_owned);
        mounts.known.insert((b"x".to_vec(), "/nowhere".into()));
        assert_eq!(mounts.mount_point_of(Path::new("/nowhere/a")), Some(Path::new("/nowhere")));
        assert_eq!(mounts.mount_point_of(Path::new("/nowhere-else")), of_root.as_deref());
        let since = mounts.take_changed_mount_points();
        assert!(since.is_empty() || since.contains(&"/nowhere".into()), "{since:?}");
    }
}
