//! `iosonde sqlio`: SQLIO's command line, and what people built around it.

mod batch;
mod call;
mod flags;
mod input;
mod outputs;
mod parse;
mod script;
mod threads;

use std::sync::atomic::AtomicBool;

use dialects::sqlio::USAGE;

use crate::dialect::{Tokens, split};
use crate::exit::{Failure, Outcome, print};
use flags::SqlioFlags;

/// What is said to who says nothing.
const NOTHING: &str = "say what to do: `iosonde sqlio -?` shows SQLIO's options and `--help` \
                       those of iosonde; what SQLIO did without any is `iosonde sqlio -kR`";

/// Runs the command.
pub(crate) fn sqlio(args: &Tokens, stop: &AtomicBool) -> Result<Outcome, Failure> {
    let tokens = &args.tokens;
    let rest = tokens.get(1..).unwrap_or_default();
    match tokens.first().and_then(|t| t.to_str()) {
        None => Err(Failure::WrongUsage(NOTHING.to_owned())),
        Some("parse") => parse::parse(rest),
        Some("batch") => batch::batch(rest, stop),
        Some("script") => script::script(rest, stop),
        Some(_) => {
            let (flags, call) = split::<SqlioFlags>("iosonde sqlio", tokens)?;
            let Some(call) = call::read(&call, &flags, "")? else {
                print(USAGE)?;
                return Ok(Outcome::Done);
            };
            flags.place.check_destroy(&call.targets(&flags)?)?;
            call::run(&call, &flags, stop, &mut print)
        }
    }
}
