//! The terminal: taken and given back on every way out, its keys, and the thread that draws on it.
//!
//! The screen is on stderr: stdout is for the result.

use std::io::{self, BufWriter, IsTerminal, Stderr, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use counters::{Sample, Sampler, Window};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::draw::{COLUMNS_MIN, Look, ROWS_MIN, paint};
use super::model::{Cpu, Model};
use super::signals::{Signals, signals};
use super::{About, ScreenEvent};

/// A shorter job does not need a screen.
const SHORT: Duration = Duration::from_millis(300);
/// The thread looks up this often.
const LOOK_UP: Duration = Duration::from_millis(100);
/// It draws this often where nobody types.
const DRAW: Duration = Duration::from_millis(200);
/// The processors are asked this often.
const PROCESSORS: Duration = Duration::from_secs(1);

/// Why the live screen ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenEnd {
    /// There is nothing more to show, or no terminal to show it on.
    Over,
    /// The user does not want it any more.
    Left,
}

/// Whether the terminal can show the screen, or why not.
pub(crate) fn fits() -> Result<(), String> {
    if !io::stderr().is_terminal() {
        return Err("`--live` needs a terminal, which stderr is not".to_owned());
    }
    let term = std::env::var("TERM").unwrap_or_default();
    if !cfg!(windows) && matches!(term.as_str(), "" | "dumb" | "unknown") {
        return Err(format!("`--live` cannot draw on a terminal of the type `{term}` (TERM)"));
    }
    match terminal_size::terminal_size_of(io::stderr()) {
        Some((width, height)) if width.0 < COLUMNS_MIN || height.0 < ROWS_MIN => Err(format!(
            "`--live` needs a terminal of at least {COLUMNS_MIN} x {ROWS_MIN}; this one has {} x \
             {}",
            width.0, height.0
        )),
        None => Err("`--live` needs a terminal that says how large it is".to_owned()),
        Some(_) if !Signals::is_in_foreground() => {
            Err("`--live` draws only in the foreground".to_owned())
        }
        Some(_) => Ok(()),
    }
}

/// Whether a terminal is in our hands and has to be given back.
pub(super) static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is ours.
pub(crate) struct Taken {
    pub(crate) terminal: Terminal<CrosstermBackend<BufWriter<Stderr>>>,
}

impl Taken {
    /// Takes the terminal. Dropping the value gives it back.
    pub(crate) fn take() -> io::Result<Self> {
        restore_on_panic();
        #[cfg(target_os = "linux")]
        super::linux::save();
        TAKEN.store(true, Ordering::SeqCst);
        signals().screen_is_up(true);
        let taken = || {
            enable_raw_mode()?;
            // Not `Terminal::clear`, which asks for the cursor's place on stdout.
            execute!(io::stderr(), EnterAlternateScreen, Hide, Clear(ClearType::All))?;
            let backend = CrosstermBackend::new(BufWriter::new(io::stderr()));
            Ok(Self { terminal: Terminal::new(backend)? })
        };
        taken().inspect_err(|_| give_back())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// The terminal is restored once, whichever thread asks first.
fn give_back() {
    // First what never waits. Also where the terminal was given back without the library, which
    // remembers it as raw.
    let _ = disable_raw_mode();
    // Held until the screen is left: a program that is ended meanwhile leaves it first.
    if TAKEN.load(Ordering::SeqCst) {
        // What cannot be put right cannot be said, either.
        let _ = execute!(io::stderr(), Show, LeaveAlternateScreen);
        TAKEN.store(false, Ordering::SeqCst);
        signals().screen_is_up(false);
    }
}

/// The same when the drawing thread hangs while it holds the lock of stderr.
pub(super) fn give_back_without_waiting() {
    if !TAKEN.load(Ordering::SeqCst) {
        return;
    }
    #[cfg(target_os = "linux")]
    super::linux::give_back_now();
    if !TAKEN.load(Ordering::SeqCst) {
        signals().screen_is_up(false);
    }
}

/// A panic anywhere in the program prints on a clean terminal.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            give_back();
            before(info);
        }));
    });
}

/// Shows events until there are no more, or until the user leaves.
pub(super) fn show(about: About, heard: &Receiver<ScreenEvent>) -> ScreenEnd {
    let mut shown = LiveView::new(about);
    let until = shown.began + SHORT;
    loop {
        match heard.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(one) => shown.model.hear(&one, shown.began.elapsed()),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => return ScreenEnd::Over,
        }
        if Instant::now() >= until {
            break;
        }
    }
    shown.until_left(heard).unwrap_or_else(|error| {
        let text = format!("note: the screen cannot be drawn: {error}; progress comes in lines");
        let _ = writeln!(io::stderr(), "{text}");
        ScreenEnd::Left
    })
}

/// What the user wants with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Nothing,
    /// Something else is to be seen.
    Look,
    Leave,
    End,
    Suspend,
}

/// The model and what it is fed by.
struct LiveView {
    model: Model,
    look: Look,
    began: Instant,
    processors: Processors,
}

impl LiveView {
    fn new(about: About) -> Self {
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            model: Model::new(about),
            look: Look { colour: !no_colour },
            began: Instant::now(),
            processors: Processors::new(),
        }
    }

    fn until_left(&mut self, heard: &Receiver<ScreenEvent>) -> io::Result<ScreenEnd> {
        let mut taken = Taken::take()?;
        let mut drawn: Option<Instant> = None;
        loop {
            loop {
                match heard.try_recv() {
                    Ok(one) => self.model.hear(&one, self.began.elapsed()),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(ScreenEnd::Over),
                }
            }
            if signals().ended() || !TAKEN.load(Ordering::SeqCst) {
                return Ok(ScreenEnd::Left);
            }
            if signals().suspended() {
                drop(taken);
                signals().stop();
                // In the background, the terminal belongs to another program.
                if !Signals::is_in_foreground() {
                    return Ok(ScreenEnd::Left);
                }
                taken = Taken::take()?;
                drawn = None;
            } else if signals().continued() {
                // Stopped by what cannot be heard of: the shell has used the terminal meanwhile.
                drop(taken);
                taken = Taken::take()?;
                drawn = None;
            }
            if let Some(cpu) = self.processors.due() {
                self.model.cpu(cpu);
            }
            if drawn.is_none_or(|at| at.elapsed() >= DRAW) {
                let now = self.began.elapsed();
                taken.terminal.draw(|frame| {
                    paint(frame.area(), frame.buffer_mut(), &self.model, self.look, now);
                })?;
                drawn = Some(Instant::now());
            }
            match self.wish()? {
                Wish::Nothing => {}
                Wish::Look => drawn = None,
                Wish::Suspend => Signals::suspend(),
                Wish::Leave => {
                    drop(taken);
                    let text = "the screen is closed and the run continues; Ctrl-C ends it";
                    let _ = writeln!(io::stderr(), "{text}");
                    return Ok(ScreenEnd::Left);
                }
                Wish::End => {
                    // First, so that a second one that ends the program at once finds the terminal
                    // clean.
                    drop(taken);
                    Signals::end();
                    while event::poll(Duration::ZERO)? {
                        if let Event::Key(key) = event::read()?
                            && press(&mut self.model, key) == Wish::End
                        {
                            Signals::end();
                        }
                    }
                    return Ok(ScreenEnd::Left);
                }
            }
        }
    }

    /// Waits for a key, but not long.
    fn wish(&mut self) -> io::Result<Wish> {
        // Without a keyboard, there is still something to look at.
        let Ok(is_there) = event::poll(LOOK_UP) else {
            thread::sleep(LOOK_UP);
            return Ok(Wish::Nothing);
        };
        if !is_there {
            return Ok(Wish::Nothing);
        }
        Ok(match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => press(&mut self.model, key),
            Event::Resize(..) => Wish::Look,
            _ => Wish::Nothing,
        })
    }
}

/// Applies a key to the model.
fn press(model: &mut Model, key: KeyEvent) -> Wish {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Wish::End,
            KeyCode::Char('z') => Wish::Suspend,
            _ => Wish::Nothing,
        };
    }
    let view = &mut model.view;
    if view.help {
        view.help = false;
        return Wish::Look;
    }
    let workers = model.workers.as_ref().map_or(0, |(_, points)| points.len());
    let further = |by: usize| (view.skipped + by).min(workers.saturating_sub(1));
    match key.code {
        KeyCode::Char('q') | KeyCode::Esc => return Wish::Leave,
        KeyCode::Char('w') => view.workers = !view.workers,
        KeyCode::Char('?' | 'h') => view.help = true,
        KeyCode::Down => view.skipped = further(1),
        KeyCode::PageDown => view.skipped = further(10),
        KeyCode::Up => view.skipped = view.skipped.saturating_sub(1),
        KeyCode::PageUp => view.skipped = view.skipped.saturating_sub(10),
        _ => return Wish::Nothing,
    }
    Wish::Look
}

/// What the processors do, asked by the thread that draws.
struct Processors {
    sampler: Option<Sampler>,
    before: Option<(Instant, Option<Sample>, Option<f64>)>,
}

impl Processors {
    fn new() -> Self {
        Self { sampler: Sampler::new(Vec::new()).ok(), before: None }
    }

    /// The CPU load since a second ago, once it is due.
    fn due(&mut self) -> Option<Cpu> {
        if self.before.as_ref().is_some_and(|(at, ..)| at.elapsed() < PROCESSORS) {
            return None;
        }
        let sample = self.sampler.as_mut().and_then(|sampler| sampler.sample().ok());
        let now = (Instant::now(), sample, own_seconds());
        let (began, earlier, own_before) = self.before.replace(now.clone())?;
        let cpu = earlier.zip(now.1).and_then(|(a, b)| Window::between(&a, &b).cpu);
        let host = cpu.map(|cpu| cpu.host_percent);
        let threads = thread::available_parallelism().map_or(1, usize::from) as f64;
        let whole_s = now.0.duration_since(began).as_secs_f64() * threads;
        let own = own_before.zip(now.2).map(|(a, b)| 100.0 * (b - a) / whole_s);
        Some(Cpu { host, own })
    }
}

/// CPU time of this program in seconds.
fn own_seconds() -> Option<f64> {
    #[cfg(unix)]
    let used = Some(rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime));
    #[cfg(unix)]
    let used = used.map(|used| used.tv_sec as f64 + used.tv_nsec as f64 / 1e9);
    #[cfg(not(unix))]
    let used = None;
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_do_what_the_help_says() {
        let mut model = super::super::model::tests::model();
        let mut pressed = |code, modifiers| press(&mut model, KeyEvent::new(code, modifiers));
        let none = KeyModifiers::NONE;
        assert_eq!(pressed(KeyCode::Char('c'), KeyModifiers::CONTROL), Wish::End);
        assert_eq!(pressed(KeyCode::Char('z'), KeyModifiers::CONTROL), Wish::Suspend);
        assert_eq!(pressed(KeyCode::Char('c'), none), Wish::Nothing);
        assert_eq!(pressed(KeyCode::Char('?'), none), Wish::Look);
        assert_eq!(pressed(KeyCode::Char('q'), none), Wish::Look, "it closes the help");
        assert_eq!(pressed(KeyCode::Char('w'), none), Wish::Look);
        assert_eq!(pressed(KeyCode::Down, none), Wish::Look);
        assert_eq!(pressed(KeyCode::Esc, none), Wish::Leave);
        assert!(model.view.workers && !model.view.help && model.view.skipped == 0);
    }
}
