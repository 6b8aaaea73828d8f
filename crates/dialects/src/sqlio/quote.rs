//! Figures that are quoted without the head of their run: the call above them gives the load.

use super::command::{Command, Invocation, Walk, parse};
use super::printout::{Access, Load, Order, Printout};

/// Puts what a call asks for in the place of what SQLIO would have printed about it. Nothing
/// changes where the call cannot be read, or names a parameter file, which has the threads.
pub(super) fn fill_in(printout: &mut Printout, call: &str) {
    let Ok(Invocation::Run(command, _)) = parse(&words(call)) else { return };
    if command.parameter_file.is_some() {
        return;
    }
    let Command { writes, threads, seconds, block_kib, outstanding, ref files, .. } = *command;
    let order = match command.order {
        Walk::Random => Order::Random,
        Walk::Sequential => Order::Sequential,
        Walk::Columns(columns) => Order::Striped {
            stripe_kib: u64::from(columns) * u64::from(block_kib),
            run_ios: command.run_ios,
        },
    };
    let (threads, seconds) = (threads.unwrap_or(1), seconds.into());
    printout.load = Some(Load { threads, writes, seconds, files: files.clone() });
    printout.access = Some(Access { block_kib, order });
    printout.outstanding = (outstanding > 0).then_some(outstanding);
    printout.buffers = command.buffers;
    printout.buffering = command.buffering;
}

/// The words of a call after its program; blanks within quotation marks part nothing.
fn words(call: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in call.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    let redirected = words.iter().position(|word| word.starts_with('>'));
    words.truncate(redirected.unwrap_or(words.len()));
    words.into_iter().skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn filled(call: &str) -> Printout {
        let mut printout = Printout::default();
        fill_in(&mut printout, call);
        printout
    }

    #[test]
    fn a_call_says_what_was_done() {
        let quoted = filled("sqlIO -kR -t1 -s30 -dE -o32 -frandom -b8 -BH -LS testfile.dat");
        let load = quoted.load.unwrap();
        assert_eq!((load.threads, load.writes, load.seconds), (1, false, 30));
        assert_eq!(load.files, ["E:testfile.dat"]);
        assert_eq!(quoted.access, Some(Access { block_kib: 8, order: Order::Random }));
        assert_eq!(quoted.outstanding, Some(32));
        let blanks =
            filled("\"C:\\Program Files\\sqlio.exe\" -kW -frandom \"D:\\my test.dat\" >> x");
        assert_eq!(blanks.load.unwrap().files, ["D:\\my test.dat"]);
    }

    #[test]
    fn a_call_that_does_not_say_it_fills_nothing_in() {
        for call in ["sqlio -kR -Fparam.txt", "sqlio -kQ x.dat", "sqlio -?", "sqlio"] {
            let filled = filled(call);
            assert!(filled.load.is_none() || call == "sqlio", "{call}");
        }
    }

    proptest! {
        #[test]
        fn no_call_panics(call in "(sqlio )?[-kRWtsobfdBLF0-9a-z\" >.:\\\\]{0,60}") {
            filled(&call);
        }
    }
}
