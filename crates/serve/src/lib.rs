//! The history in a browser.
