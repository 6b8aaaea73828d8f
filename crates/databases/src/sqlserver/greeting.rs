//! What a client and SQL Server say before anything is encrypted ([MS-TDS] 2.2.6.5, PRELOGIN).

use crate::url::Encrypt;

/// The header of a packet: kind, status, length with the header (big-endian), four bytes more.
pub(super) const HEADER_BYTES: usize = 8;

/// Types of packets in the protocol TDS.
pub(super) const PRE_LOGIN: u8 = 0x12;
pub(super) const LOGIN: u8 = 0x10;
pub(super) const ANSWER: u8 = 0x04;

/// The status of the last packet of a message.
const END: u8 = 1;

/// No answer to a greeting is longer than this.
pub(super) const LONGEST_ANSWER: usize = 64 << 10;

/// Options of the first packet, before the login.
const VERSION: u8 = 0;
const ENCRYPTION: u8 = 1;
const INSTANCE: u8 = 2;
const THREAD: u8 = 3;
const SEVERAL_RESULTS: u8 = 4;
const LAST: u8 = 0xff;

/// Values of the option `ENCRYPTION`, as both sides send them.
const OFF: u8 = 0;
const ON: u8 = 1;
const NOT_SUPPORTED: u8 = 2;
const REQUIRED: u8 = 3;

/// The header of a message that is one packet with this many bytes after the header.
pub(super) fn header(kind: u8, bytes: usize) -> [u8; HEADER_BYTES] {
    let length = u16::try_from(bytes + HEADER_BYTES).unwrap_or(u16::MAX);
    let [high, low] = length.to_be_bytes();
    [kind, END, high, low, 0, 0, 0, 0]
}

/// The packet with which a client begins.
pub(super) fn greeting(encrypt: Encrypt, instance: Option<&str>) -> Vec<u8> {
    let encryption = match encrypt {
        Encrypt::Everything => ON,
        Encrypt::Login => OFF,
    };
    let mut name = instance.unwrap_or_default().as_bytes().to_vec();
    name.push(0);
    let options = [
        (VERSION, vec![0; 6]),
        (ENCRYPTION, vec![encryption]),
        (INSTANCE, name),
        (THREAD, vec![0; 4]),
        (SEVERAL_RESULTS, vec![0]),
    ];
    // Each option is listed with its place and its length, and the values follow the list.
    let mut place = options.len() * 5 + 1;
    let (mut list, mut values) = (Vec::new(), Vec::new());
    for (option, value) in options {
        list.push(option);
        for number in [place, value.len()] {
            list.extend(u16::try_from(number).unwrap_or(u16::MAX).to_be_bytes());
        }
        place += value.len();
        values.extend(value);
    }
    list.push(LAST);
    let mut packet = header(PRE_LOGIN, list.len() + values.len()).to_vec();
    packet.extend(list);
    packet.extend(values);
    packet
}

/// How much of the connection is encrypted, by what the server answered to a greeting.
pub(super) fn agreed(wanted: Encrypt, options: &[u8]) -> Result<Encrypt, String> {
    let answer = encryption(options).ok_or("its answer to a greeting is not understood")?;
    match (wanted, answer) {
        (_, ON | REQUIRED) => Ok(Encrypt::Everything),
        (Encrypt::Login, OFF) => Ok(Encrypt::Login),
        (Encrypt::Everything, OFF) => {
            Err("it encrypts the login only; `encrypt=no` allows that".to_owned())
        }
        (_, NOT_SUPPORTED) => {
            Err("it does not encrypt, and a password is not sent as it is".to_owned())
        }
        _ => Err(format!("it answers a kind of encryption that is not known ({answer})")),
    }
}

/// The value of the option `ENCRYPTION`.
fn encryption(options: &[u8]) -> Option<u8> {
    let entries = options.as_chunks::<5>().0.iter().take_while(|[option, ..]| *option != LAST);
    let mut found = entries.filter(|[option, ..]| *option == ENCRYPTION);
    let &[_, place @ .., high, low] = found.next()?;
    let place = usize::from(u16::from_be_bytes(place));
    options.get(place).copied().filter(|_| [high, low] == [0, 1])
}

/// Follows the packets in a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Packets {
    header: [u8; HEADER_BYTES],
    have: usize,
    left: usize,
}

impl Packets {
    /// Takes bytes up to the end of a message: how many, and the kind of the message that ended.
    pub(super) fn take(&mut self, bytes: &[u8]) -> (usize, Option<u8>) {
        let mut at = 0;
        while at < bytes.len() {
            if self.have < HEADER_BYTES {
                self.header[self.have] = bytes[at];
                self.have += 1;
                at += 1;
                if self.have == HEADER_BYTES {
                    let length = u16::from_be_bytes([self.header[2], self.header[3]]);
                    self.left = usize::from(length).saturating_sub(HEADER_BYTES);
                }
            } else {
                let step = self.left.min(bytes.len() - at);
                self.left -= step;
                at += step;
            }
            if self.have == HEADER_BYTES && self.left == 0 {
                self.have = 0;
                if self.header[1] & END != 0 {
                    return (at, Some(self.header[0]));
                }
            }
        }
        (at, None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_greeting_lists_its_values() {
        let packet = greeting(Encrypt::Everything, Some("SHOP"));
        assert_eq!(packet[..4], [0x12, 1, 0, 51]);
        assert_eq!(packet.len(), 51);
        let options = &packet[HEADER_BYTES..];
        assert_eq!(encryption(options), Some(ON));
        assert_eq!(options[10], INSTANCE);
        assert!(packet.windows(5).any(|bytes| bytes == b"SHOP\0"));
        assert_eq!(encryption(&greeting(Encrypt::Login, None)[HEADER_BYTES..]), Some(OFF));
    }

    /// A password never goes over a connection that is not encrypted.
    #[test]
    fn what_is_not_encrypted_is_refused() {
        let answer = |level| [ENCRYPTION, 0, 6, 0, 1, LAST, level];
        let all = |wanted| [0, 1, 2, 3, 9].map(|level| agreed(wanted, &answer(level)).ok());
        let everything = Some(Encrypt::Everything);
        assert_eq!(all(Encrypt::Everything), [None, everything, None, everything, None]);
        let login = Some(Encrypt::Login);
        assert_eq!(all(Encrypt::Login), [login, everything, None, everything, None]);
    }

    proptest! {
        #[test]
        fn no_answer_is_too_strange(options: Vec<u8>) {
            let _ = agreed(Encrypt::Login, &options);
        }

        /// Where a stream is cut makes no difference.
        #[test]
        fn messages_end_where_they_end(
            lengths in prop::collection::vec(0_usize..40, 1..6),
            cut in 1_usize..30,
        ) {
            let mut stream = Vec::new();
            let mut ends = Vec::new();
            for bytes in &lengths {
                stream.extend(header(LOGIN, *bytes));
                stream.resize(stream.len() + bytes, 7);
                ends.push(stream.len());
            }
            let (mut packets, mut found, mut total) = (Packets::default(), Vec::new(), 0);
            for piece in stream.chunks(cut) {
                let mut piece = piece;
                while !piece.is_empty() {
                    let (bytes, ended) = packets.take(piece);
                    total += bytes;
                    piece = &piece[bytes..];
                    if ended.is_some() {
                        found.push(total);
                    }
                }
            }
            prop_assert_eq!(found, ends);
        }
    }
}
