//! Reads the security identifiers (SIDs) of Windows, which has no user ids, as text such as `S-1-5-32-544`.

#![expect(unsafe_code, reason = "no dependency that we already have reads them")]

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle as _, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, GetSecurityInfo, SE_KERNEL_OBJECT,
};
use windows_sys::Win32::Security::{
    GetTokenInformation, OWNER_SECURITY_INFORMATION, PSID, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Memory that Windows allocated with `LocalAlloc`, and that we must free.
struct LocalAllocBuffer(*mut c_void);

impl Drop for LocalAllocBuffer {
    fn drop(&mut self) {
        // SAFETY: the memory comes from a call whose documentation requires LocalFree, and nothing else uses the pointer.
        unsafe { LocalFree(self.0) };
    }
}

/// Returns the SID of the user that this process runs as.
///
/// # Errors
/// When Windows does not return the SID.
pub fn user_sid() -> io::Result<String> {
    let mut token = ptr::null_mut();
    // SAFETY: `token` is written if the call succeeds, and then it is ours.
    let token = unsafe {
        check_success(OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token))?;
        OwnedHandle::from_raw_handle(token)
    };
    // A SID has 68 bytes at most. Words of eight bytes are aligned as TOKEN_USER.
    let mut buffer = [0_u64; 32];
    let size = u32::try_from(size_of_val(&buffer)).expect("a few words");
    let mut used = 0;
    // SAFETY: `buffer` has `size` bytes, and holds a TOKEN_USER, which points into it, if the call succeeds.
    unsafe {
        let into = buffer.as_mut_ptr().cast::<c_void>();
        check_success(GetTokenInformation(token.as_raw_handle(), TokenUser, into, size, &raw mut used))?;
        sid_text((*into.cast::<TOKEN_USER>()).User.Sid)
    }
}

/// Returns the SID of the owner of an open pipe.
///
/// # Errors
/// When Windows does not return the SID.
pub fn owner_sid(pipe: &impl AsRawHandle) -> io::Result<String> {
    let (mut owner, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the handle is open; both pointers are written if the call succeeds; `owner` points into `descriptor`.
    unsafe {
        let error = GetSecurityInfo(
            pipe.as_raw_handle(),
            SE_KERNEL_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &raw mut owner,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut descriptor,
        );
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error.cast_signed()));
        }
        let _descriptor = LocalAllocBuffer(descriptor);
        sid_text(owner)
    }
}

/// Returns a SID as text.
///
/// # Safety
/// The SID is valid.
unsafe fn sid_text(sid: PSID) -> io::Result<String> {
    let mut text = ptr::null_mut();
    // SAFETY: the SID is valid, and `text` is written if the call succeeds.
    unsafe { check_success(ConvertSidToStringSidW(sid, &raw mut text))? };
    let _text = LocalAllocBuffer(text.cast());
    // SAFETY: Windows wrote `text`, which ends with 0.
    Ok(unsafe { widestring::U16CStr::from_ptr_str(text) }.to_string_lossy())
}

/// Returns the last error of Windows if a call returned 0.
fn check_success(done: i32) -> io::Result<()> {
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the access control list of an open pipe as text, such as `D:P(A;;FA;;;S-1-5-…)`.
///
/// # Errors
/// When Windows does not return the list.
pub fn access_list(pipe: &impl AsRawHandle) -> io::Result<String> {
    use windows_sys::Win32::Security::Authorization::ConvertSecurityDescriptorToStringSecurityDescriptorW;
    use windows_sys::Win32::Security::DACL_SECURITY_INFORMATION;
    const REVISION: u32 = 1;
    let (mut descriptor, mut text) = (ptr::null_mut(), ptr::null_mut());
    let null = ptr::null_mut();
    // SAFETY: the handle is open; `descriptor` and then `text`, which ends with 0, are written if the calls succeed.
    unsafe {
        let (handle, what) = (pipe.as_raw_handle(), DACL_SECURITY_INFORMATION);
        let error = GetSecurityInfo(
            handle,
            SE_KERNEL_OBJECT,
            what,
            null,
            null,
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut descriptor,
        );
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error.cast_signed()));
        }
        let descriptor = LocalAllocBuffer(descriptor);
        check_success(ConvertSecurityDescriptorToStringSecurityDescriptorW(
            descriptor.0,
            REVISION,
            what,
            &raw mut text,
            ptr::null_mut(),
        ))?;
        let text = LocalAllocBuffer(text.cast());
        Ok(widestring::U16CStr::from_ptr_str(text.0.cast()).to_string_lossy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_user_has_a_sid() {
        let sid = user_sid().unwrap();
        assert!(sid.starts_with("S-1-5-"), "{sid}");
        assert_eq!(sid, user_sid().unwrap());
    }
}
