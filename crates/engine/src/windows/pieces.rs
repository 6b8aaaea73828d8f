//! Buffers in pieces, as Windows takes them: one call for pages of memory, and only past its cache.

use workload::{Buffers as Layout, Stream};

/// Bytes of each element of ReadFileScatter and WriteFileGather.
pub(crate) const ELEMENT_BYTES: u32 = 4096;

/// How the buffers of a stream are laid out. `scatters` says whether its I/O is direct and
/// overlapped, which the calls demand.
///
/// # Errors
/// What the stream asks for cannot be had; how it can be.
pub(crate) fn layout(stream: &Stream, scatters: bool) -> Result<Layout, &'static str> {
    let whole = |bytes: u64| bytes > 0 && bytes.is_multiple_of(ELEMENT_BYTES.into());
    match stream.buffers {
        Layout::Scattered { pieces } => {
            let pieces = u64::from(pieces.max(1));
            let fits = |bytes: u64| bytes.is_multiple_of(pieces) && whole(bytes / pieces);
            if !scatters {
                Err("Windows scatters only direct I/O on a completion port; use `--engine iocp` \
                     and direct I/O, or buffers in one piece")
            } else if stream.blocks.iter().all(|block| fits(block.bytes.0)) {
                Ok(stream.buffers)
            } else {
                Err("Windows scatters I/O over pieces of 4 KiB or a multiple; use larger blocks \
                     or fewer pieces")
            }
        }
        // Pages are how a database would have its buffers, where the system can.
        Layout::Pages { bytes } if !(scatters && whole(bytes.0)) => Ok(Layout::Single),
        other => Ok(other),
    }
}

/// Whether buffers of this layout go to the system in pieces.
pub(crate) fn is_in_pieces(layout: Layout) -> bool {
    matches!(layout, Layout::Scattered { .. } | Layout::Pages { .. })
}

/// Whether a part of a slot's buffer can be given as such pages. The rest of a short transfer may
/// begin within one.
pub(crate) fn has_elements(buffer_offset: u32, bytes: u32) -> bool {
    bytes > 0 && (buffer_offset | bytes).is_multiple_of(ELEMENT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::{Block, Bytes};

    fn stream(buffers: Layout, block: u64) -> Stream {
        let blocks = vec![Block { bytes: Bytes(block), weight: 1 }];
        Stream { buffers, blocks, ..Stream::default() }
    }

    #[test]
    fn pieces_are_pages_of_memory_or_are_refused() {
        let scattered = |pieces, block| stream(Layout::Scattered { pieces }, block);
        let sixteen = scattered(16, 65_536);
        assert_eq!(layout(&sixteen, true), Ok(sixteen.buffers));
        assert!(is_in_pieces(sixteen.buffers) && !is_in_pieces(Layout::Single));
        assert!(layout(&sixteen, false).unwrap_err().contains("--engine iocp"));
        assert!(layout(&scattered(16, 8192), true).unwrap_err().contains("4 KiB"));
        assert!(layout(&scattered(3, 12_289), true).is_err());
    }

    /// `validate` asks for pages wherever it runs: on Windows it ended in a refusal.
    #[test]
    fn pages_of_a_database_are_scattered_where_that_can_be() {
        let pages = |bytes| stream(Layout::Pages { bytes: Bytes(bytes) }, 65_536);
        assert_eq!(layout(&pages(8192), true), Ok(pages(8192).buffers));
        assert_eq!(layout(&pages(8192), false), Ok(Layout::Single), "through the cache");
        assert_eq!(layout(&pages(512), true), Ok(Layout::Single), "smaller than an element");
        assert_eq!(layout(&stream(Layout::Large, 8192), true), Ok(Layout::Large));
    }

    #[test]
    fn only_whole_elements_are_scattered() {
        assert!(has_elements(0, 8192) && has_elements(4096, 4096));
        assert!(!has_elements(512, 4096) && !has_elements(0, 512) && !has_elements(0, 0));
    }
}
