//! Lines with a limit: one message is one line.

use std::io::{self, BufRead};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its newline, within the limit.
    Complete,
    /// A line of this many bytes, over the limit; it was skipped.
    TooLong(usize),
    /// There is nothing more.
    End,
}

/// Reads the next line into `line`, which is cleared first. Never holds more than `limit` bytes, however long a line is.
/// A last line without a newline counts.
pub(super) fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Line> {
    line.clear();
    let mut length = 0;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() && length == 0 {
            return Ok(Line::End);
        }
        let newline = available.iter().position(|&byte| byte == b'\n');
        let part = &available[..newline.unwrap_or(available.len())];
        length += part.len();
        if length <= limit {
            line.extend_from_slice(part);
        }
        let ended = newline.is_some() || available.is_empty();
        let consumed = part.len() + usize::from(newline.is_some());
        input.consume(consumed);
        if ended {
            return Ok(if length <= limit {
                Line::Complete
            } else {
                Line::TooLong(length)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn read_all(input: &[u8], limit: usize) -> Vec<(Line, Vec<u8>)> {
        // A tiny buffer, so that lines arrive in pieces.
        let mut input = BufReader::with_capacity(3, input);
        let mut lines = Vec::new();
        loop {
            let mut line = Vec::new();
            match read_line(&mut input, &mut line, limit).unwrap() {
                Line::End => return lines,
                Line::TooLong(length) => lines.push((Line::TooLong(length), Vec::new())),
                Line::Complete => lines.push((Line::Complete, line)),
            }
        }
    }

    #[test]
    fn lines_arrive_whole_and_in_order() {
        let lines = read_all(b"one\n\nthree\r\nlast", 5 + 1);
        let texts: Vec<_> = lines.iter().map(|(_, text)| text.as_slice()).collect();
        assert_eq!(texts, [&b"one"[..], b"", b"three\r", b"last"]);
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_read() {
        let lines = read_all(b"12345\n123456\n1\n", 5);
        let kinds: Vec<_> = lines.into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [Line::Complete, Line::TooLong(6), Line::Complete]);
    }
}
