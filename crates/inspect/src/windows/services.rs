//! Windows' lists of drivers, services, values of the registry and rights of accounts, as text with
//! one entry in a line and tabs within it.
#![expect(unsafe_code, reason = "system calls without a safe wrapper")]

use std::ffi::c_void;
use std::io;
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::{CloseHandle, ERROR_NO_MORE_ITEMS, HANDLE, LocalFree};
use windows_sys::Win32::Security::Authentication::Identity::{
    LSA_HANDLE, LSA_OBJECT_ATTRIBUTES, LSA_UNICODE_STRING, LsaClose,
    LsaEnumerateAccountsWithUserRight, LsaFreeMemory, LsaNtStatusToWinError, LsaOpenPolicy,
    POLICY_LOOKUP_NAMES, POLICY_VIEW_LOCAL_INFORMATION,
};
use windows_sys::Win32::Security::Authorization::ConvertSidToStringSidW;
use windows_sys::Win32::Security::{
    GetTokenInformation, LookupAccountNameW, PSID, TOKEN_ELEVATION, TOKEN_QUERY, TokenElevation,
};
use windows_sys::Win32::System::Registry::{
    HKEY, HKEY_LOCAL_MACHINE, KEY_READ, REG_DWORD, REG_EXPAND_SZ, REG_SZ, RegCloseKey,
    RegEnumValueW, RegOpenKeyExW,
};
use windows_sys::Win32::System::Services::{
    CloseServiceHandle, ENUM_SERVICE_STATUS_PROCESSW, EnumServicesStatusExW, OpenSCManagerW,
    SC_ENUM_PROCESS_INFO, SC_MANAGER_ENUMERATE_SERVICE, SERVICE_ACTIVE, SERVICE_FILE_SYSTEM_DRIVER,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::calls::{done, registry, text, wide};

const SERVICES: &str = r"SYSTEM\CurrentControlSet\Services";
const SQL_INSTANCES: &str = r"SOFTWARE\Microsoft\Microsoft SQL Server\Instance Names\SQL";
/// Room for the names and states of drivers. There are some dozens.
const DRIVERS_BYTES: usize = 256 << 10;
/// More values in a key than this are not read.
const VALUES_MOST: u32 = 4096;
/// The longest name of a value that the registry takes, and its end.
const NAME_CHARS: usize = 16_384;
const DATA_BYTES: usize = 8192;

fn win32(status: u32) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(status.cast_signed())) }
}

/// Whether this process has the rights of an administrator at hand.
pub(super) fn is_elevated() -> io::Result<bool> {
    let mut token: HANDLE = null_mut();
    // SAFETY: writes one handle, which is closed below.
    done(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) })?;
    let mut elevation = TOKEN_ELEVATION::default();
    let bytes = u32::try_from(size_of::<TOKEN_ELEVATION>()).unwrap_or(0);
    let mut returned = 0;
    // SAFETY: the token is open, and Windows writes at most as many bytes as the structure has.
    let result = done(unsafe {
        let to = (&raw mut elevation).cast::<c_void>();
        GetTokenInformation(token, TokenElevation, to, bytes, &raw mut returned)
    });
    // SAFETY: the handle is this function's, and is not used again.
    unsafe { CloseHandle(token) };
    result.map(|()| elevation.TokenIsElevated != 0)
}

/// A key of the registry that is closed in the end.
struct Key(HKEY);

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: the key was opened and is closed once.
        unsafe { RegCloseKey(self.0) };
    }
}

/// The values of a key under `HKEY_LOCAL_MACHINE`: their names, and what is in them if that is a
/// text or a number.
pub(super) fn registry_values(key: &str) -> io::Result<String> {
    let name = wide(key);
    let mut opened: HKEY = null_mut();
    // SAFETY: the name ends in 0, and Windows writes one handle.
    win32(unsafe {
        RegOpenKeyExW(HKEY_LOCAL_MACHINE, name.as_ptr(), 0, KEY_READ, &raw mut opened)
    })?;
    let key = Key(opened);
    let (mut name, mut data) = (vec![0_u16; NAME_CHARS], vec![0_u8; DATA_BYTES]);
    let mut lines = String::new();
    for index in 0..VALUES_MOST {
        let mut chars = u32::try_from(name.len()).unwrap_or(0);
        let mut bytes = u32::try_from(data.len()).unwrap_or(0);
        let mut kind = 0;
        // SAFETY: the key is open, and both rooms are as long as the call is told.
        let status = unsafe {
            let (to, into) = (name.as_mut_ptr(), data.as_mut_ptr());
            let (chars, bytes) = (&raw mut chars, &raw mut bytes);
            RegEnumValueW(key.0, index, to, chars, null(), &raw mut kind, into, bytes)
        };
        if status == ERROR_NO_MORE_ITEMS {
            break;
        }
        // A value with more data than there is room for still has a name, but it was not written.
        if win32(status).is_err() {
            continue;
        }
        let data = data.get(..bytes as usize).unwrap_or_default();
        let value = match (kind, data.first_chunk()) {
            (REG_DWORD, Some(number)) => u32::from_le_bytes(*number).to_string(),
            (REG_SZ | REG_EXPAND_SZ, _) => {
                let pairs = data.as_chunks().0.iter();
                text(&pairs.map(|pair| u16::from_le_bytes(*pair)).collect::<Vec<_>>())
            }
            _ => String::new(),
        };
        let name = text(name.get(..chars as usize).unwrap_or_default());
        lines.push_str(&line(&[&name, &value]));
    }
    Ok(lines)
}

/// An entry without tabs and ends of lines in it.
fn line(parts: &[&str]) -> String {
    let clean = |part: &&str| part.replace(['\t', '\n', '\r'], " ");
    parts.iter().map(clean).collect::<Vec<_>>().join("\t") + "\n"
}

/// The names of the drivers of file systems that run, filters among them.
fn file_system_drivers() -> io::Result<Vec<String>> {
    // SAFETY: no names means this machine and its services.
    let manager = unsafe { OpenSCManagerW(null(), null(), SC_MANAGER_ENUMERATE_SERVICE) };
    if manager.is_null() {
        return Err(io::Error::last_os_error());
    }
    // Of 64 bits each, since the entries hold addresses.
    let mut room = vec![0_u64; DRIVERS_BYTES / 8];
    let bytes = u32::try_from(DRIVERS_BYTES).unwrap_or(0);
    let (mut needed, mut count, mut resume) = (0, 0, 0);
    // SAFETY: the manager is open; Windows writes at most `bytes`, and three numbers.
    let result = done(unsafe {
        let (kind, state) = (SERVICE_FILE_SYSTEM_DRIVER, SERVICE_ACTIVE);
        let (to, numbers) = (room.as_mut_ptr().cast(), (&raw mut needed, &raw mut count));
        let (level, resume) = (SC_ENUM_PROCESS_INFO, &raw mut resume);
        EnumServicesStatusExW(
            manager,
            level,
            kind,
            state,
            to,
            bytes,
            numbers.0,
            numbers.1,
            resume,
            null(),
        )
    });
    // SAFETY: the handle is this function's, and is not used again.
    unsafe { CloseServiceHandle(manager) };
    result?;
    let count = (count as usize).min(DRIVERS_BYTES / size_of::<ENUM_SERVICE_STATUS_PROCESSW>());
    // SAFETY: Windows wrote this many entries at the beginning of the room, which is aligned for
    // them, and their names are in it and end in 0.
    let names = unsafe {
        let entries = room.as_ptr().cast::<ENUM_SERVICE_STATUS_PROCESSW>();
        std::slice::from_raw_parts(entries, count)
            .iter()
            .map(|entry| from_wide(entry.lpServiceName))
    };
    Ok(names.collect())
}

/// A text of Windows.
///
/// # Safety
/// The text ends in 0, unless there is none.
unsafe fn from_wide(start: *const u16) -> String {
    let mut length = 0;
    // SAFETY: nothing after the end of the text is read.
    while !start.is_null() && unsafe { *start.add(length) } != 0 {
        length += 1;
    }
    if length == 0 {
        return String::new();
    }
    // SAFETY: as many characters were just read.
    String::from_utf16_lossy(unsafe { std::slice::from_raw_parts(start, length) })
}

/// The file system filters that run, each with its altitude: how far above the file system it is.
/// `FilterFindFirst` would need the rights of an administrator for the same.
pub(super) fn filters() -> io::Result<String> {
    let mut lines = String::new();
    for driver in file_system_drivers()? {
        // Windows 11 24H2 moved the instances.
        let altitude = ["Instances", r"Parameters\Instances"].into_iter().find_map(|place| {
            let key = format!(r"{SERVICES}\{driver}\{place}");
            let instance = registry(&key, "DefaultInstance").ok()?;
            registry(&format!(r"{key}\{instance}"), "Altitude").ok()
        });
        // Without an altitude it is a file system and not a filter.
        if let Some(altitude) = altitude {
            lines.push_str(&line(&[&driver, &altitude]));
        }
    }
    Ok(lines)
}

/// The services of SQL Server, each with its account, the identity of the account, and that of the
/// service itself; an identity that Windows does not know is empty.
pub(super) fn sql_services() -> io::Result<String> {
    let mut lines = String::new();
    for entry in registry_values(SQL_INSTANCES)?.lines() {
        let instance = entry.split('\t').next().unwrap_or_default();
        let service = match instance {
            "MSSQLSERVER" => instance.to_owned(),
            named => format!("MSSQL${named}"),
        };
        let account = registry(&format!(r"{SERVICES}\{service}"), "ObjectName")?;
        let of_account = match account.as_str() {
            "LocalSystem" => Ok("S-1-5-18".to_owned()),
            name => identity(name.strip_prefix(r".\").unwrap_or(name)),
        };
        let own = identity(&format!(r"NT SERVICE\{service}"));
        let identities = [of_account.unwrap_or_default(), own.unwrap_or_default()];
        lines.push_str(&line(&[&service, &account, &identities[0], &identities[1]]));
    }
    Ok(lines)
}

/// The identity (SID) of an account by its name.
fn identity(account: &str) -> io::Result<String> {
    let name = wide(account);
    // No SID has more than 68 bytes; of 64 bits each, as it is aligned.
    let (mut sid, mut domain) = ([0_u64; 16], [0_u16; 256]);
    let (mut bytes, mut chars, mut kind) = (128, 256, 0);
    // SAFETY: the name ends in 0, and both rooms are as long as the call is told.
    done(unsafe {
        let (to, domain) = (sid.as_mut_ptr().cast(), domain.as_mut_ptr());
        let (bytes, chars) = (&raw mut bytes, &raw mut chars);
        LookupAccountNameW(null(), name.as_ptr(), to, bytes, domain, chars, &raw mut kind)
    })?;
    written(sid.as_mut_ptr().cast())
}

/// An identity as it is written: `S-1-5-18`.
fn written(sid: PSID) -> io::Result<String> {
    let mut text = null_mut();
    // SAFETY: callers have the SID from Windows; the call writes the address of a text.
    done(unsafe { ConvertSidToStringSidW(sid, &raw mut text) })?;
    // SAFETY: the text ends in 0, and Windows says that it is freed this way.
    let written = unsafe { from_wide(text) };
    // SAFETY: as above.
    unsafe { LocalFree(text.cast()) };
    Ok(written)
}

/// The identities of all accounts and groups that hold a right, one in a line.
pub(super) fn holders(right: &str) -> io::Result<String> {
    let attributes = LSA_OBJECT_ATTRIBUTES::default();
    let mut policy: LSA_HANDLE = 0;
    let access = POLICY_VIEW_LOCAL_INFORMATION | POLICY_LOOKUP_NAMES;
    // SAFETY: no name means this machine; the call writes one handle.
    let status = unsafe {
        LsaOpenPolicy(null(), &raw const attributes, access.cast_unsigned(), &raw mut policy)
    };
    lsa(status)?;
    let mut name = wide(right);
    let bytes = u16::try_from((name.len() - 1) * 2).unwrap_or(0);
    let name =
        LSA_UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: name.as_mut_ptr() };
    let (mut found, mut count) = (null_mut(), 0);
    // SAFETY: the policy is open and the name outlives the call, which writes an address and a
    // number.
    let status = unsafe {
        LsaEnumerateAccountsWithUserRight(policy, &raw const name, &raw mut found, &raw mut count)
    };
    // SAFETY: the handle is this function's, and is not used again.
    unsafe { LsaClose(policy) };
    lsa(status)?;
    let mut lines = String::new();
    for index in 0..count as usize {
        // SAFETY: Windows wrote an array of this many addresses of SIDs.
        let sid: PSID = unsafe { *found.cast::<PSID>().add(index) };
        lines.push_str(&line(&[&written(sid).unwrap_or_default()]));
    }
    // SAFETY: Windows says that its array is freed this way.
    unsafe { LsaFreeMemory(found) };
    Ok(lines)
}

fn lsa(status: i32) -> io::Result<()> {
    // SAFETY: takes a number and gives one.
    win32(if status == 0 { 0 } else { unsafe { LsaNtStatusToWinError(status) } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_registry_are_listed() {
        let values = registry_values(r"SOFTWARE\Microsoft\Windows NT\CurrentVersion").unwrap();
        let build = values.lines().find(|line| line.starts_with("CurrentBuild\t"));
        assert!(build.is_some_and(|line| line.len() > 13), "{values}");
        assert_eq!(registry_values("SOFTWARE\\no such key").unwrap_err().raw_os_error(), Some(2));
    }

    #[test]
    fn the_rights_of_this_process_are_known() {
        is_elevated().unwrap();
    }

    #[test]
    fn accounts_have_identities() {
        let service = identity(r"NT AUTHORITY\LOCAL SERVICE");
        assert!(service.is_ok_and(|sid| sid == "S-1-5-19"));
        assert!(identity("no such account here").is_err());
    }

    /// Wine runs drivers and has no filters among them.
    #[test]
    fn drivers_are_listed() {
        let drivers = file_system_drivers().unwrap();
        assert!(drivers.iter().all(|name| !name.is_empty()), "{drivers:?}");
        assert!(filters().unwrap().lines().all(|line| line.contains('\t')));
    }
}
