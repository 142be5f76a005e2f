//! `hakem rules`: the rules as a co-process, a line in, a line out.

use std::io::{self, BufRead, BufReader, Write};
use std::process::ExitCode;

use hakem_protocol::limits::MAX_LINE_BYTES;

use crate::game::GAMES;
use crate::game::tool::Tool;

/// Answer questions about positions: JSON lines on stdin, an answer for each on stdout
///
/// A line names a game and, as wanted, `rules`, a `state`, a `move` to apply to it, or `moves` from the start. The answer holds
/// whose turn it is, what is asked, all legal answers, and the result when the game is over.
#[derive(Debug, clap::Args)]
#[command(after_help = example())]
pub struct Args {}

/// A question and its answer, by the tool itself.
fn example() -> String {
    let question = format!("{{\"game\":\"{}\",\"moves\":[]}}", GAMES[0].facts().name);
    let mut answer = Vec::new();
    Tool::new().answer(question.as_bytes(), &mut answer);
    let answer = String::from_utf8_lossy(&answer);
    format!(
        "Example:\n  $ echo '{question}' | hakem rules\n  {}",
        answer.trim_end()
    )
}

/// Bytes read at once.
const INPUT_BUFFER: usize = 64 << 10;
/// Answers are written at the latest when so many bytes of them wait.
const OUTPUT_BUFFER: usize = 64 << 10;

/// Answers until the end of input.
///
/// # Errors
/// Stdin or stdout that fails; a closed stdout is a quiet end.
pub fn run(_args: &Args) -> anyhow::Result<ExitCode> {
    let input = BufReader::with_capacity(INPUT_BUFFER, io::stdin().lock());
    super::unless_closed(serve(input, io::stdout().lock()))?;
    Ok(ExitCode::SUCCESS)
}

/// Answers every line of `input`. All answers are written before more input is waited for, so that a program that asks
/// and waits gets its answer at once.
fn serve(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut tool = Tool::new();
    let mut answers = Vec::with_capacity(2 * OUTPUT_BUFFER);
    // The beginning of a line whose end has not been read yet.
    let mut begun = Vec::new();
    loop {
        let read = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read.is_empty() {
            break;
        }
        for piece in read.split_inclusive(|&byte| byte == b'\n') {
            let whole = piece.ends_with(b"\n");
            if whole && begun.is_empty() {
                tool.answer(piece, &mut answers);
            } else {
                // The tool refuses a line over the limit: one byte beyond it is enough to know.
                let room = (MAX_LINE_BYTES + 1).saturating_sub(begun.len());
                begun.extend_from_slice(&piece[..piece.len().min(room)]);
                if whole {
                    tool.answer(&begun, &mut answers);
                    begun.clear();
                }
            }
            if answers.len() >= OUTPUT_BUFFER {
                output.write_all(&answers)?;
                answers.clear();
            }
        }
        let used = read.len();
        input.consume(used);
        output.write_all(&answers)?;
        output.flush()?;
        answers.clear();
    }
    if !begun.is_empty() {
        tool.answer(&begun, &mut answers);
        output.write_all(&answers)?;
    }
    output.flush()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::io::Read;

    use super::*;

    const QUESTION: &str = "{\"game\":\"mangala\",\"moves\":[]}\n";

    /// A co-process's end of the pipes: hands out pieces, and notes how many answers had arrived before each.
    struct Asker<'a> {
        pieces: VecDeque<&'a [u8]>,
        answers: &'a RefCell<Vec<u8>>,
        seen: &'a RefCell<Vec<usize>>,
    }

    impl Read for Asker<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let lines = self.answers.borrow().split(|&byte| byte == b'\n').count() - 1;
            self.seen.borrow_mut().push(lines);
            let piece = self.pieces.pop_front().unwrap_or_default();
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    struct Answers<'a>(&'a RefCell<Vec<u8>>);

    impl Write for Answers<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn answers_are_there_before_more_input_is_read() {
        let two_and_a_half = format!("{QUESTION}x\r\n{}", &QUESTION[..9]);
        let (answers, seen) = (RefCell::default(), RefCell::default());
        let asker = Asker {
            pieces: [
                QUESTION.as_bytes(),
                two_and_a_half.as_bytes(),
                &QUESTION.as_bytes()[9..],
                QUESTION.trim_end().as_bytes(),
            ]
            .into(),
            answers: &answers,
            seen: &seen,
        };
        serve(BufReader::new(asker), Answers(&answers)).expect("memory takes it");
        // The last line has no end: it is answered when the input ends.
        assert_eq!(*seen.borrow(), [0, 1, 3, 4, 4]);
        assert_eq!(answers.borrow().split(|&byte| byte == b'\n').count() - 1, 5);
    }

    #[test]
    fn a_line_over_the_limit_costs_one_answer_and_no_memory() {
        let endless = io::repeat(b'[').take(40 << 20);
        let input = endless.chain(b"\n".as_slice()).chain(QUESTION.as_bytes());
        let mut output = Vec::new();
        serve(BufReader::new(input), &mut output).expect("memory takes it");
        let text = String::from_utf8(output).expect("answers are text");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].contains("bad_json") && lines[0].contains("longer"));
        assert!(lines[1].contains("\"legal\":[1,2,3,4,5,6]"));
    }

    #[test]
    fn a_reader_that_went_away_is_no_failure() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let result = serve(QUESTION.as_bytes(), Closed);
        assert!(result.is_err());
        assert!(super::super::unless_closed(result).is_ok());
    }
}
