//! Bytes of unknown encoding, as text: what redirections, consoles and editors of Windows leave
//! after.

/// The text of a file in UTF-8, UTF-16 with a byte order mark or without one, or, where it is
/// neither, Windows-1252's ASCII part with `?` for the rest. Line ends stay as they are.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    let text = decoded(bytes);
    // Old Macs end lines with a carriage return alone.
    let is_old = text.contains('\r') && !text.contains('\n');
    unquoted(if is_old { text.replace('\r', "\n") } else { text })
}

/// A text without the sign that mail programs put before each line that they quote, if most lines
/// have it.
fn unquoted(text: String) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    if lines().filter(|line| line.starts_with('>')).count() * 2 <= lines().count() {
        return text;
    }
    let plain = |line| ["> ", ">"].iter().find_map(|sign| str::strip_prefix(line, sign));
    text.split_inclusive('\n').map(|line| plain(line).unwrap_or(line)).collect()
}

fn decoded(bytes: &[u8]) -> String {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => lossy(rest),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // Text of another alphabet than this has no zero bytes; in UTF-16 every second byte of it
        // is one.
        [first, 0, second, 0, ..] if *first != 0 && *second != 0 => {
            utf16(bytes, u16::from_le_bytes)
        }
        [0, first, 0, second, ..] if *first != 0 && *second != 0 => {
            utf16(bytes, u16::from_be_bytes)
        }
        _ => lossy(bytes),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (units, _) = bytes.as_chunks::<2>();
    let units = units.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn lossy(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|b| if b.is_ascii() { char::from(*b) } else { '?' }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_redirect_of_powershell_is_read() {
        let text = "sqlio v1.5.SG\r\nIOs/sec: 12.00\r\n";
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&[&[0xFF, 0xFE], units.as_slice()].concat()), text);
        assert_eq!(decode(&units), text);
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode(&[&[0xFE, 0xFF], units.as_slice()].concat()), text);
        assert_eq!(decode(&units), text);
        assert_eq!(decode(&[&[0xEF, 0xBB, 0xBF], text.as_bytes()].concat()), text);
    }

    /// A log that an old editor had saved was one line, and no known format.
    #[test]
    fn lines_may_end_with_a_carriage_return_alone() {
        assert_eq!(decode(b"sqlio v1.5.SG\rIOs/sec: 12.00\r"), "sqlio v1.5.SG\nIOs/sec: 12.00\n");
        assert_eq!(decode(b"12 %\r24 %\r\n"), "12 %\r24 %\r\n");
    }

    /// A result that was quoted in a mail was of no known format.
    #[test]
    fn the_sign_of_a_quotation_in_a_mail_is_left_out() {
        let mail = "Bob wrote:\n> sqlio v1.5.SG\n>\n> IOs/sec: 12.00\r\n>> older\n";
        let plain = "Bob wrote:\nsqlio v1.5.SG\n\nIOs/sec: 12.00\r\n> older\n";
        assert_eq!(decode(mail.as_bytes()), plain);
        let log = "C:\\>sqlio\n> x\nIOs/sec: 12.00\n";
        assert_eq!(decode(log.as_bytes()), log);
    }

    #[test]
    fn another_code_page_loses_only_its_own_letters() {
        assert_eq!(decode(b"Gr\xF6\xDFe: 8"), "Gr??e: 8");
    }

    proptest! {
        #[test]
        fn any_bytes_are_some_text(bytes: Vec<u8>) {
            let _ = decode(&bytes);
        }

        #[test]
        fn utf8_stays(text in "[^\u{0}\u{FEFF}\r>]*") {
            prop_assert_eq!(decode(text.as_bytes()), text);
        }
    }
}
