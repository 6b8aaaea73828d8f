//! The management service of Windows (WMI), asked as a COM client: what no `DeviceIoControl`
//! answers, such as the paths of MPIO and the columns of Storage Spaces.
//!
//! Asking the service itself starts no program, works where PowerShell is forbidden, and gives each
//! instance as one text, so that no variant of COM has to be taken apart. A provider that does not
//! answer is left alone: each question has a thread and a deadline.
#![expect(unsafe_code, reason = "interfaces of COM are tables of functions")]

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use windows_sys::Win32::Foundation::{SysAllocString, SysFreeString, SysStringLen};
use windows_sys::Win32::System::Com::{
    CLSCTX_INPROC_SERVER, COINIT_MULTITHREADED, CoCreateInstance, CoInitializeEx,
    CoSetProxyBlanket, CoUninitialize, EOAC_NONE, RPC_C_AUTHN_LEVEL_PKT_PRIVACY,
    RPC_C_IMP_LEVEL_IMPERSONATE,
};
use windows_sys::Win32::System::Wmi::{
    WBEM_FLAG_CONNECT_USE_MAX_WAIT, WBEM_FLAG_FORWARD_ONLY, WBEM_FLAG_NO_FLAVORS,
    WBEM_FLAG_RETURN_IMMEDIATELY, WBEM_S_TIMEDOUT, WbemLocator,
};
use windows_sys::core::{BSTR, GUID, HRESULT};

use super::calls::wide;
use crate::windows_answers::Answer;

/// How long one question may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// How long the service may take for one instance.
const INSTANCE_MS: i32 = 5000;
/// No server has more disks, volumes or shadow copies that matter here. An answer with more is an
/// error.
const INSTANCES_MOST: usize = 1024;
const ANSWER_BYTES_MOST: usize = 1 << 20;
const ERROR_TIMEOUT: u32 = 1460;
const ERROR_MORE_DATA: u32 = 234;
/// `IWbemLocator`
const LOCATOR: GUID = GUID::from_u128(0xdc12_a687_737f_11cf_884d_00aa_004b_2e24);
/// `RPC_C_AUTHN_WINNT`, and no service that authorises.
const AUTHENTICATION: (u32, u32) = (10, 0);

// The place of each function in the table of its interface.
const RELEASE: usize = 2;
const CONNECT_SERVER: usize = 3;
const EXEC_QUERY: usize = 20;
const NEXT: usize = 4;
const GET_OBJECT_TEXT: usize = 13;

/// Set once the service did not answer in time. Then it is not asked again.
static IS_SILENT: AtomicBool = AtomicBool::new(false);

/// The instances that a query in a namespace finds, as text; the error is an `HRESULT`.
pub(super) fn ask(namespace: &str, query: &str) -> Answer {
    if IS_SILENT.load(Ordering::Relaxed) {
        return Err(ERROR_TIMEOUT);
    }
    let (sender, receiver) = mpsc::channel();
    let (namespace, query) = (namespace.to_owned(), query.to_owned());
    // The receiver is gone if this takes too long; nobody wants the answer then.
    let work = move || drop(sender.send(instances(&namespace, &query)));
    if thread::Builder::new().name("wmi".to_owned()).spawn(work).is_err() {
        return Err(ERROR_TIMEOUT);
    }
    receiver.recv_timeout(DEADLINE).unwrap_or_else(|_| {
        IS_SILENT.store(true, Ordering::Relaxed);
        Err(ERROR_TIMEOUT)
    })
}

fn done(result: HRESULT) -> Result<(), u32> {
    if result < 0 { Err(result.cast_unsigned()) } else { Ok(()) }
}

/// COM, for as long as this thread uses it.
struct Com;

impl Com {
    fn new() -> Result<Self, u32> {
        // SAFETY: takes no pointer; the thread is new and uses COM in no other way.
        done(unsafe { CoInitializeEx(null(), COINIT_MULTITHREADED.cast_unsigned()) })?;
        Ok(Self)
    }
}

impl Drop for Com {
    fn drop(&mut self) {
        // SAFETY: this thread initialised COM, and every interface was dropped before.
        unsafe { CoUninitialize() }
    }
}

/// An interface of COM: the address of an object whose first word is the address of its table.
struct Interface(*mut c_void);

impl Interface {
    /// The function at this place of the table.
    fn function(&self, place: usize) -> *const c_void {
        // SAFETY: an object of COM begins with the address of its table, and every interface here
        // has more functions than the place.
        unsafe { *(*self.0.cast::<*const *const c_void>()).add(place) }
    }
}

impl Drop for Interface {
    fn drop(&mut self) {
        type Release = unsafe extern "system" fn(*mut c_void) -> u32;
        // SAFETY: the second function after the first in each table is `Release` of this type.
        unsafe {
            let release = std::mem::transmute::<*const c_void, Release>(self.function(RELEASE));
            release(self.0);
        }
    }
}

/// A text as COM takes it.
struct Text(BSTR);

impl Text {
    fn new(text: &str) -> Self {
        let text = wide(text);
        // SAFETY: the text ends in 0.
        Self(unsafe { SysAllocString(text.as_ptr()) })
    }

    fn read(&self) -> String {
        if self.0.is_null() {
            return String::new();
        }
        // SAFETY: COM gave this text, which has as many characters as it says.
        let chars = unsafe { std::slice::from_raw_parts(self.0, SysStringLen(self.0) as usize) };
        String::from_utf16_lossy(chars)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // SAFETY: the text was made by COM and is freed once; no text is fine, too.
        unsafe { SysFreeString(self.0) }
    }
}

fn instances(namespace: &str, query: &str) -> Answer {
    let _com = Com::new()?;
    let services = connect(namespace)?;
    let found = execute(&services, query)?;
    let mut text = String::new();
    for _ in 0..INSTANCES_MOST {
        let Some(instance) = next(&found)? else { return Ok(text.into_bytes()) };
        text.push_str(&object_text(&instance)?);
        text.push('\n');
        if text.len() > ANSWER_BYTES_MOST {
            break;
        }
    }
    // A part would look like all there is.
    Err(ERROR_MORE_DATA)
}

fn connect(namespace: &str) -> Result<Interface, u32> {
    type ConnectServer = unsafe extern "system" fn(
        *mut c_void,
        BSTR,
        BSTR,
        BSTR,
        BSTR,
        i32,
        BSTR,
        *mut c_void,
        *mut *mut c_void,
    ) -> HRESULT;
    let mut object = null_mut();
    // SAFETY: both identifiers outlive the call, which writes one address.
    done(unsafe {
        let place = CLSCTX_INPROC_SERVER;
        CoCreateInstance(&WbemLocator, null_mut(), place, &LOCATOR, &raw mut object)
    })?;
    let locator = Interface(object);
    let namespace = Text::new(namespace);
    let (mut services, none) = (null_mut(), null());
    // SAFETY: `ConnectServer` is the first function of its own in this interface. The texts may be
    // missing except the first, and the call writes one address.
    done(unsafe {
        let connect =
            std::mem::transmute::<*const c_void, ConnectServer>(locator.function(CONNECT_SERVER));
        let wait = WBEM_FLAG_CONNECT_USE_MAX_WAIT;
        let to = &raw mut services;
        connect(locator.0, namespace.0, none, none, none, wait, none, null_mut(), to)
    })?;
    let services = Interface(services);
    allow(&services);
    Ok(services)
}

/// Lets the service act as this user, and nobody read along, as the classes of `BitLocker` want.
/// An object that is in this process, as with Wine, needs no leave and takes none.
fn allow(proxy: &Interface) {
    let (level, act_as) = (RPC_C_AUTHN_LEVEL_PKT_PRIVACY, RPC_C_IMP_LEVEL_IMPERSONATE);
    let (authentication, authorisation) = AUTHENTICATION;
    // SAFETY: the proxy is alive; no name and no identity are given.
    unsafe {
        CoSetProxyBlanket(
            proxy.0,
            authentication,
            authorisation,
            null(),
            level,
            act_as,
            null(),
            EOAC_NONE.cast_unsigned(),
        );
    }
}

fn execute(services: &Interface, query: &str) -> Result<Interface, u32> {
    type ExecQuery = unsafe extern "system" fn(
        *mut c_void,
        BSTR,
        BSTR,
        i32,
        *mut c_void,
        *mut *mut c_void,
    ) -> HRESULT;
    let (language, query) = (Text::new("WQL"), Text::new(query));
    let mut found = null_mut();
    // SAFETY: the function has this place and type in `IWbemServices`; the texts outlive the call,
    // which writes one address.
    done(unsafe {
        let execute =
            std::mem::transmute::<*const c_void, ExecQuery>(services.function(EXEC_QUERY));
        let how = WBEM_FLAG_FORWARD_ONLY | WBEM_FLAG_RETURN_IMMEDIATELY;
        execute(services.0, language.0, query.0, how, null_mut(), &raw mut found)
    })?;
    let found = Interface(found);
    allow(&found);
    Ok(found)
}

/// The next instance; `None` after the last one.
fn next(found: &Interface) -> Result<Option<Interface>, u32> {
    type Next =
        unsafe extern "system" fn(*mut c_void, i32, u32, *mut *mut c_void, *mut u32) -> HRESULT;
    let (mut object, mut count) = (null_mut(), 0);
    // SAFETY: the function has this place and type in `IEnumWbemClassObject`; it writes at most one
    // address, and how many it wrote.
    let result = unsafe {
        let next = std::mem::transmute::<*const c_void, Next>(found.function(NEXT));
        next(found.0, INSTANCE_MS, 1, &raw mut object, &raw mut count)
    };
    done(result)?;
    // An answer that is not whole is none.
    if result == WBEM_S_TIMEDOUT {
        return Err(ERROR_TIMEOUT);
    }
    Ok((count == 1 && !object.is_null()).then(|| Interface(object)))
}

fn object_text(instance: &Interface) -> Result<String, u32> {
    type GetObjectText = unsafe extern "system" fn(*mut c_void, i32, *mut BSTR) -> HRESULT;
    let mut text = Text(null());
    // SAFETY: the function has this place and type in `IWbemClassObject`, and writes one text.
    done(unsafe {
        let place = instance.function(GET_OBJECT_TEXT);
        let get = std::mem::transmute::<*const c_void, GetObjectText>(place);
        get(instance.0, WBEM_FLAG_NO_FLAVORS, &raw mut text.0)
    })?;
    Ok(text.read())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows_mof as mof;

    /// The only classes that Wine has are of `CIMV2`.
    #[test]
    fn the_service_answers_in_text() {
        let answer = ask(r"root\CIMV2", "SELECT BuildNumber FROM Win32_OperatingSystem").unwrap();
        let text = String::from_utf8(answer).unwrap();
        let found = mof::instances(&text);
        assert_eq!(found.len(), 1, "{text}");
        assert!(found[0].number("BuildNumber").is_some(), "{text}");
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert!(ask(r"root\NoSuchNamespace", "SELECT * FROM Nothing").is_err());
        assert!(ask(r"root\CIMV2", "SELECT").is_err());
    }
}
