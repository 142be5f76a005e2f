//! The `hakem` program.

fn main() -> std::process::ExitCode {
    hakem::cli::main()
}
