//! The starter bots of `bots/`, and what is peculiar to bots of their languages.

use std::path::Path;

use hakem_protocol::source;

/// A language that there is a starter bot in. To add one: a folder in `bots/`, and an entry in [`LANGUAGES`].
#[derive(Debug)]
pub struct Language {
    /// Its name on the command line.
    pub name: &'static str,
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// Its name for people.
    pub title: &'static str,
    /// The program that it cannot do without, and how to come by it.
    pub needs: (&'static str, &'static str),
    /// The files of the starter.
    pub files: &'static [(&'static str, &'static str)],
    /// The endings of its source files.
    pub endings: &'static [&'static str],
    /// The programs that run it, where it is not compiled to one.
    pub runners: &'static [&'static str],
    /// Whether hakem sees to it that its stdout has no buffer (PYTHONUNBUFFERED).
    pub runs_unbuffered: bool,
    /// How a line is flushed.
    pub flush: &'static str,
    /// How something is printed to stderr.
    pub log: &'static str,
}

macro_rules! files {
    ($folder:literal: $($file:literal),+) => {
        &[$(($file, include_str!(concat!("../../bots/", $folder, "/", $file)))),+]
    };
}

/// All of them.
pub static LANGUAGES: &[Language] = &[
    Language {
        name: "python",
        aliases: &["py", "python3"],
        title: "Python",
        needs: ("python3", "Debian: apt-get install python3"),
        files: files!("python": "starter.py", "bot.toml", "README.md"),
        endings: &["py"],
        runners: &["python", "python3", "pypy", "pypy3"],
        runs_unbuffered: true,
        flush: "print(line, flush=True), or sys.stdout.flush() after each line",
        log: "print(..., file=sys.stderr)",
    },
    Language {
        name: "javascript",
        aliases: &["js", "node", "nodejs"],
        title: "JavaScript",
        needs: ("node", "Debian: apt-get install nodejs"),
        files: files!("javascript": "starter.js", "bot.toml", "README.md"),
        endings: &["js", "mjs", "cjs"],
        runners: &["node", "nodejs", "deno", "bun"],
        runs_unbuffered: false,
        flush: "process.stdout.write(line + \"\\n\") as soon as the answer is known (and no process.exit before it is written)",
        log: "console.error(...)",
    },
    Language {
        name: "java",
        aliases: &["jdk"],
        title: "Java",
        needs: ("javac", "Debian: apt-get install default-jdk-headless"),
        files: files!("java": "Starter.java", "bot.toml", "README.md"),
        endings: &["java", "class", "jar"],
        runners: &["java"],
        runs_unbuffered: false,
        flush: "System.out.flush() after each line (with a BufferedWriter: writer.flush())",
        log: "System.err.println(...)",
    },
    Language {
        name: "c",
        aliases: &["cc", "gcc"],
        title: "C",
        needs: ("cc", "Debian: apt-get install gcc libc6-dev"),
        files: files!("c": "starter.c", "bot.toml", "README.md"),
        endings: &["c"],
        runners: &[],
        runs_unbuffered: false,
        flush: "fflush(stdout); after each line",
        log: "fprintf(stderr, ...)",
    },
    Language {
        name: "cpp",
        aliases: &["c++", "cxx", "g++"],
        title: "C++",
        needs: ("c++", "Debian: apt-get install g++"),
        files: files!("cpp": "starter.cpp", "bot.toml", "README.md"),
        endings: &["cpp", "cc", "cxx"],
        runners: &[],
        runs_unbuffered: false,
        flush: "std::cout << line << std::endl; (\"\\n\" alone does not flush), or std::cout.flush();",
        log: "std::cerr << ...",
    },
    Language {
        name: "go",
        aliases: &["golang"],
        title: "Go",
        needs: ("go", "Debian: apt-get install golang"),
        files: files!("go": "starter.go", "bot.toml", "README.md"),
        endings: &["go"],
        runners: &["go"],
        runs_unbuffered: false,
        flush: "writer.Flush() after each line (of a bufio.Writer; os.Stdout itself needs none)",
        log: "fmt.Fprintln(os.Stderr, ...)",
    },
    Language {
        name: "rust",
        aliases: &["rs", "cargo"],
        title: "Rust",
        needs: ("cargo", "https://rustup.rs"),
        files: files!("rust": "starter.rs", "Cargo.toml", "bot.toml", "README.md"),
        endings: &["rs"],
        runners: &["cargo"],
        runs_unbuffered: false,
        flush: "std::io::stdout().flush()?; after each line (of a BufWriter: writer.flush()?)",
        log: "eprintln!(...)",
    },
];

/// How the starter in Rust names the folder of `hakem-protocol`, and how a copy of it does.
const PROTOCOL_FOLDER: (&str, &str) = ("path = \"../../protocol\"", "path = \"hakem-protocol\"");

impl Language {
    /// The language of this name or alias.
    pub fn find(name: &str) -> Option<&'static Language> {
        let name = name.to_lowercase();
        LANGUAGES
            .iter()
            .find(|language| language.name == name || language.aliases.contains(&name.as_str()))
    }

    /// The language that a bot is probably written in: as its command says, else as the files of its folder do.
    pub fn of_bot(argv: &[String], dir: Option<&Path>) -> Option<&'static Language> {
        let by_ending = |path: &Path| {
            let ending = path.extension()?.to_str()?;
            LANGUAGES
                .iter()
                .find(|language| language.endings.contains(&ending))
        };
        let by_runner = |word: &String| {
            let program = Path::new(word).file_name()?.to_str()?;
            let program = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            LANGUAGES.iter().find(|language| {
                let name = |runner: &&str| {
                    runner.trim_end_matches(|c: char| c.is_ascii_digit()) == program
                };
                language.runners.iter().any(name)
            })
        };
        let by_folder = || {
            let mut files: Vec<_> = std::fs::read_dir(dir?)
                .ok()?
                .flatten()
                .map(|entry| entry.path())
                .collect();
            files.sort();
            files.iter().find_map(|path| by_ending(path))
        };
        argv.iter()
            .find_map(|word| by_ending(Path::new(word)))
            .or_else(|| argv.first().and_then(by_runner))
            .or_else(by_folder)
    }

    /// All files that a bot of its own needs, with their paths.
    pub fn all_files(&self) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = self
            .files
            .iter()
            .map(|&(name, text)| {
                (
                    name.to_owned(),
                    text.replace(PROTOCOL_FOLDER.0, PROTOCOL_FOLDER.1),
                )
            })
            .collect();
        if self
            .files
            .iter()
            .any(|(_, text)| text.contains(PROTOCOL_FOLDER.0))
        {
            files.push(("hakem-protocol/Cargo.toml".into(), source::MANIFEST.into()));
            files.extend(
                source::FILES
                    .iter()
                    .map(|&(name, text)| (format!("hakem-protocol/src/{name}"), text.to_owned())),
            );
        }
        files
    }
}
